// The border between C and C++.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "sidestream/error.hpp"
#include "sidestream/sidestream.h"

namespace sidestream {

/// Where memory is short, a sentence that needs none.
inline void say(std::string& message, const char* text) noexcept {
  try {
    message = text;
  } catch (...) {
    constexpr const char* shortest = "out of memory";
    message.assign(shortest, std::min(std::strlen(shortest), message.capacity()));
  }
}

/// Runs `work` and turns what it throws into a code and, in `problem` if that is given, a sentence. Nothing may leave a
/// C function as an exception.
template <class Work>
int shielded(std::string* problem, Work&& work) noexcept {
  const auto failed = [problem](int code, const char* text) {
    if (problem) say(*problem, text);
    return code;
  };
  try {
    return work();
  } catch (const Error& error) {
    return failed(static_cast<int>(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return failed(SIDESTREAM_ERROR_SYSTEM, "out of memory");
  } catch (const std::exception& error) {
    return failed(SIDESTREAM_ERROR_INTERNAL, error.what());
  } catch (...) {
    return failed(SIDESTREAM_ERROR_INTERNAL, "an exception of unknown type");
  }
}

}  // namespace sidestream
