// Throwing errors with a formatted sentence.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "sidestream/error.hpp"

namespace sidestream {

/// fail(Code::file, "cannot open '{}': {}", path, reason)
template <class... Args>
[[noreturn]] void fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace sidestream
