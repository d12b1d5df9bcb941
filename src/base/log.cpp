#include "base/log.hpp"

#include <unistd.h>

#include <exception>

#include "base/retry_while_out_of_memory.hpp"

namespace sidestream::log {

void line(const char* severity, const std::string& text) {
  const std::string whole = fmt::format("sidestream: {}: {}\n", severity, text);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, whole.data(), whole.size());
}

void put(const char* severity, fmt::string_view format, fmt::format_args args) noexcept {
  try {
    retry_while_out_of_memory([&] { line(severity, fmt::vformat(format, args)); });
  } catch (const std::exception&) {
    constexpr char none[] = "sidestream: a message is missing: no memory for it\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, none, sizeof none - 1);
  }
}

}  // namespace sidestream::log
