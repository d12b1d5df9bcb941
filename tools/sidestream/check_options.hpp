// Parts of `sidestream check`: its arguments, the check of the buffer, and the search for all mistakes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/options/document.hpp"

namespace sidestream {

struct CheckOptions {
  std::string file;
  int ranks = 0;  ///< 0: the division of ranks is not checked
  int nodes = 1;
  std::vector<std::string> values, more_values;  ///< NAME=VALUE
  /// Declarations by calls of the program: NAME=NXxNYxNZ, or NAME={...} with the options of the configuration.
  std::vector<std::string> meshes;
  std::vector<std::string> variables;  ///< NAME=MESH, or NAME={...}
  std::string declared;                ///< a file with `meshes:` and `variables:`, such as one of the output 'metadata'
  std::vector<std::string> functions;  ///< names of the program's own analyses
};

/// Parses the values of parameters. Throws Error(usage).
[[nodiscard]] Parameters parse_values(const CheckOptions& options);

/// Parses the short forms as declarations: uniform meshes of spacing 1, variables of float64 in their cells. Throws
/// Error(usage).
[[nodiscard]] Metadata parse_declarations(const CheckOptions& options);

/// Adds the declarations of the other forms, and variables on meshes of the configuration, to it. They count as entries
/// under `meshes:` and `variables:`; existing entries win. Throws Error(configuration), with the place in the option or
/// the file.
[[nodiscard]] std::shared_ptr<const Document> with_declarations(std::shared_ptr<const Document> document,
                                                                const CheckOptions& options);

// Check that `placement.buffer` holds an iteration, as far as that is known without a run.

/// Throws Error(configuration), at the placement entry, if a node's buffer is smaller than an iteration of its clients,
/// whatever blocks they have. This is known from the sizes of meshes, since some node has at least the average. The
/// message names the smallest sufficient buffer for clients with one block of equal size without ghosts. Ignores
/// variables on meshes without a size (points, lists of cells). `ranks` on `nodes` as for check_split.
void check_buffer(const Config& config, int ranks, int nodes);

// Search for all mistakes of a configuration, whose readers stop at the first.

/// An error without a position in the file, with the position of its entry.
struct MistakeAt {
  Location where;
  std::string message;
};

/// Collects mistakes: the exception of `examine` (Error(configuration), MistakeAt), then that for the document without
/// the faulty entry, and so on, at most 100, sorted by position. Consequences of a removed entry (a missing required
/// option, an undeclared name) do not count. Mistakes without a position end the search; other errors are thrown if
/// they come first.
[[nodiscard]] std::vector<std::string> mistakes_of(const Document& document,
                                                   const std::function<void(const Document&)>& examine);

}  // namespace sidestream
