// Helpers of commands that read a configuration.
// Progress display of a command.
#pragma once

#include <fmt/format.h>
#include <unistd.h>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>

#include "check_options.hpp"
#include "config/options/document.hpp"
#include "sidestream/extend/registry.hpp"

namespace sidestream {

/// Reads a file; `what` names it in messages ("the configuration"). Throws Error(configuration).
[[nodiscard]] std::string read_text(const std::string& path, const char* what);

/// All built-in kinds, those of plug-ins and modules, and stand-ins for the program's own functions.
[[nodiscard]] Registry all_kinds(const OpeningConfig& opening, const Document& document, const CheckOptions& options);

/// Replaces sizes that are `auto`, using `placement.measured`. `servers`: number on each of `nodes` nodes; 0: unknown,
/// so that sizes stay `auto`. Throws Error(configuration) for a task that was not measured.
void settle_groups(Config& config, int servers, int nodes);

/// A folder for writers that are created but not used.
[[nodiscard]] std::shared_ptr<const OutputDirectory> dry_directory(const std::string& root);

/// The registry with all built-in kinds, without modules.
[[nodiscard]] Registry built_in_kinds();
/// The same with those of the modules. A module that cannot be loaded is a warning.
[[nodiscard]] Registry kinds_with_modules();

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
