// Writes all cells into one raw file, for comparing runs. Everything passes through rank 0, so runs should be small.
#pragma once

#include <string>

#include "solver.hpp"

namespace advection {

/// Collective. Writes the cells of all patches, including covered ones, by level, then by ascending patch, i fastest.
/// Each has 32 bytes in the machine's order: int32 level, three int32 indices, int64 patch, float64 density. Throws
/// UserError on all ranks alike if rank 0 cannot write the file.
void write_cells(const std::string& file, const Solver& solver);

}  // namespace advection
