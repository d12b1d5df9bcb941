// The files of a command line: their iterations, and what they have in common.
#pragma once

#include <string>
#include <vector>

#include "analyse/snapshot.hpp"

namespace sidestream::analysing {

struct SourceOptions {
  std::vector<std::string> files;  ///< or patterns of the shell: *, ?, [...]
  std::string describe;            ///< a description of HDF5 files of other programs; empty: none
  std::string units = "SI";        ///< or `stored`: of files of openPMD
  std::string iterations, cycles;  ///< numbers and FROM:TO:STEP with commas between; empty: all
};

/// All iterations of all files that are chosen, in the order of the files; those that a pattern stands for in the order
/// of the numbers in their names. Throws Error(file), or Error(usage) where nothing is left.
[[nodiscard]] StoredIterations find_iterations(const SourceOptions& options);

/// The meshes and variables of all iterations; names say which are the same. Throws Error(file) where one is declared
/// differently in two of them. Meshes may have more levels in one than in another.
[[nodiscard]] Metadata common_metadata(const StoredIterations& iterations);

}  // namespace sidestream::analysing
