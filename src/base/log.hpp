// Messages for people, on standard error.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace sidestream::log {

/// Writes one line, `sidestream: warning: ...`, in a single write so that lines of several ranks don't mix.
void line(const char* severity, const std::string& text);

template <class... Args>
void warning(fmt::format_string<Args...> format, Args&&... args) {
  line("warning", fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  line("note", fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  line("error", fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace sidestream::log
