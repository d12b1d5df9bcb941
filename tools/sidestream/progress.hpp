// How far a command is.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <iostream>

namespace sidestream {

/// On standard error, in one line that is written again and again; nothing where that is no terminal.
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
  /// Takes the line away, for who else writes there.
  void clear() const {
    if (speaks_) std::cerr << "\r\033[K" << std::flush;
  }

 private:
  const char* unit_;
  std::int64_t count_;
  bool speaks_;
};

}  // namespace sidestream
