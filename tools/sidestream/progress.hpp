// Progress display of a command.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <iostream>

namespace sidestream {

/// Shows progress on standard error, in one line that is overwritten; silent if that is not a terminal.
class ProgressLine {
 public:
  ProgressLine(const char* unit, std::int64_t count, bool speaks)
      : unit_(unit), count_(count), speaks_(speaks && ::isatty(STDERR_FILENO) == 1) {}
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  /// `number` counts from 0.
  void at(std::int64_t number) const {
    if (speaks_) std::cerr << fmt::format("\r{} {} of {}\033[K", unit_, number + 1, count_) << std::flush;
  }
  /// Clears the line, for other output.
  void clear() const {
    if (speaks_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  const char* unit_;
  std::int64_t count_;
  bool speaks_;
};

}  // namespace sidestream
