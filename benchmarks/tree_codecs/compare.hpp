// Sizes of all variables of some trees by several codecs.
#pragma once

#include <string>
#include <vector>

#include "chunks.hpp"

namespace benchmark {

/// Prints, for each variable, the saving by the paper's scheme, zstd, byte shuffle with zstd, and ours. Checks every
/// bit and throws std::runtime_error if one is lost.
void compare_sizes(const std::string& name, const std::vector<TreeData>& trees, std::size_t chunk_cells);

/// Prints one line for each kind of magnetised gas.
void compare_kinds(const std::vector<MagnetisedKind>& kinds, std::size_t chunk_cells);

}  // namespace benchmark
