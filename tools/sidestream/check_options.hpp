// The arguments of `sidestream check`.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace sidestream {

struct CheckOptions {
  std::string file;
  int ranks = 0;  ///< 0: the split is not checked
  int nodes = 1;
  std::vector<std::string> values, more_values;  ///< NAME=VALUE
  std::vector<std::string> meshes;               ///< NAME=NXxNYxNZ: what the program declares by calls
  std::vector<std::string> variables;            ///< NAME=MESH
  std::vector<std::string> functions;            ///< names of the program's own analyses
};

/// The values as parameters. Throws Error(usage).
[[nodiscard]] Parameters parse_values(const CheckOptions& options);

/// The meshes (uniform, spacing 1) and variables (float64, cell) as declarations. Throws Error(usage).
[[nodiscard]] Metadata parse_declarations(const CheckOptions& options);

}  // namespace sidestream
