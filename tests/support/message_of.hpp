// The message of an action that should fail.
#pragma once

#include <functional>
#include <string>

#include "sidestream/error.hpp"

namespace sidestream::testing {

/// The message of the Error that `action` throws.
inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace sidestream::testing
