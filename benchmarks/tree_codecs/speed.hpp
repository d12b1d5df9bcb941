// Speed of the coders next to memcpy and zstd, in one run.
#pragma once

#include "chunks.hpp"

namespace benchmark {

/// Prints GB/s in both directions for the first of the largest chunks of each variable.
void compare_speed(const std::string& name, const TreeData& tree, std::size_t chunk_cells);

}  // namespace benchmark
