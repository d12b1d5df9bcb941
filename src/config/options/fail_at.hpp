// Throwing configuration errors that begin with their place.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

#include "base/fail.hpp"
#include "sidestream/extend/options.hpp"

namespace sidestream {

/// Throws Error(configuration): `file:line:column: message`.
template <class... Args>
[[noreturn]] void fail_at(const Location& where, fmt::format_string<Args...> format, Args&&... args) {
  const std::string place = where.text();
  throw Error(Code::configuration,
              (place.empty() ? "" : place + ": ") + fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace sidestream
