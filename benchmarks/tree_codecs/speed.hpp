// How fast the coders are, beside memcpy and zstd, in one run.
#pragma once

#include "chunks.hpp"

namespace benchmark {

/// Prints GB/s, in both directions, on the finest large level of each variable.
void compare_speed(const std::string& name, const TreeData& tree);

}  // namespace benchmark
