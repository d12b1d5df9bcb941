// The command `export`, which is written in Python: the libraries of the formats are.
#pragma once

#include <string>

namespace sidestream {

struct ExportOptions {
  std::string directory, target;
  std::string variables, iterations, cycles, time_units;  ///< empty: not given
  bool uncompressed = false;
};

/// Becomes `python -m sidestream export ...`, with the package that was built along with this program: does not return
/// if there is an interpreter. Throws Error(system) if there is none.
[[noreturn]] void export_database(const ExportOptions& options);

}  // namespace sidestream
