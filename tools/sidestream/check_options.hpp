// The arguments of `sidestream check`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace sidestream {

struct CheckOptions {
  std::string file;
  int ranks = 0;  ///< 0: the split is not checked
  int nodes = 1;
  std::vector<std::string> values, more_values;  ///< NAME=VALUE
  /// What the program declares by calls: NAME=NXxNYxNZ, or NAME={...} with the options of the configuration.
  std::vector<std::string> meshes;
  std::vector<std::string> variables;  ///< NAME=MESH, or NAME={...}
  std::string declared;                ///< a file with `meshes:` and `variables:`, such as the output 'metadata' writes
  std::vector<std::string> functions;  ///< names of the program's own analyses
};

/// The values as parameters. Throws Error(usage).
[[nodiscard]] Parameters parse_values(const CheckOptions& options);

/// The short forms as declarations: uniform meshes of spacing 1, variables of float64 in their cells. Throws
/// Error(usage).
[[nodiscard]] Metadata parse_declarations(const CheckOptions& options);

/// The configuration with what the other forms declare, and with variables on meshes of its own, as if it stood under
/// `meshes:` and `variables:` there; what does stand there wins. Throws Error(configuration), with the place in the
/// option or the file.
[[nodiscard]] std::shared_ptr<const Document> with_declarations(std::shared_ptr<const Document> document,
                                                                const CheckOptions& options);

// Whether `placement.buffer` holds an iteration, as far as that is known without a run.

/// Throws Error(configuration), at the placement entry, if the buffer of a node is smaller than an iteration of its
/// clients, whatever blocks they have: the sizes of meshes are known, and some node has at least the average. Says the
/// least buffer that would do if every client had one block of equal size without ghosts. Variables on meshes without a
/// size (points, lists of cells) do not count. `ranks` on `nodes` as for check_split.
void check_buffer(const Config& config, int ranks, int nodes);

}  // namespace sidestream
