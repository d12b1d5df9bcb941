// Messages for people, on standard error and in the session's file of messages (docs/formats.md).
#pragma once

#include <fmt/format.h>

namespace sidestream::log {

/// Writes one line, `sidestream: warning: ...`, in a single write so that lines of several ranks do not mix. Waits for
/// memory if there is none: no operation fails because it could not be reported.
void put(const char* severity, fmt::string_view format, fmt::format_args args) noexcept;

template <class... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) noexcept {
  put("warning", format, fmt::make_format_args(args...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) noexcept {
  put("note", format, fmt::make_format_args(args...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) noexcept {
  put("error", format, fmt::make_format_args(args...));
}

}  // namespace sidestream::log
