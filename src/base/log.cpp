#include "base/log.hpp"

#include <unistd.h>

namespace sidestream::log {

void line(const char* severity, const std::string& text) {
  const std::string whole = fmt::format("sidestream: {}: {}\n", severity, text);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, whole.data(), whole.size());
}

}  // namespace sidestream::log
