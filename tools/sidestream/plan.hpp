// `sidestream plan`: which blocks would move to which server, without a run.
#pragma once

#include <string>

#include "check_options.hpp"

namespace sidestream {

struct PlanOptions {
  CheckOptions program;
  std::string metadata;     ///< a file, or `grid:64x64x64/2x2x2`
  int servers = 0;          ///< 0: what the configuration says
  std::string partitioner;  ///< a name or a map in YAML; empty: what the configuration says
  bool table = false;       ///< a line for each server
};

/// Evaluates what every analysis and output needs, applies the partitioner and says what moves. Throws Error(usage) for
/// wrong arguments, other errors for a wrong configuration or metadata.
[[nodiscard]] std::string plan(const PlanOptions& options);

}  // namespace sidestream
