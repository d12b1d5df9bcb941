// Messages for people, on standard error.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <exception>
#include <string>

#include "base/waiting.hpp"

namespace sidestream::log {

/// Writes one line, `sidestream: warning: ...`, in a single write so that lines of several ranks do not mix.
inline void line(const char* severity, const std::string& text) {
  const std::string whole = fmt::format("sidestream: {}: {}\n", severity, text);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, whole.data(), whole.size());
}

/// Writes a formatted line. Waits for memory if there is none: no operation fails because it could not be reported.
inline void put(const char* severity, fmt::string_view format, fmt::format_args args) noexcept {
  try {
    retry_while_out_of_memory([&] { line(severity, fmt::vformat(format, args)); });
  } catch (const std::exception&) {
    constexpr char none[] = "sidestream: a message is missing: no memory for it\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, none, sizeof none - 1);
  }
}

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
