// All cells in one raw file, for comparing runs. Everything passes through rank 0: for small runs.
#pragma once

#include <string>

#include "solver.hpp"

namespace advection {

/// Collective. The cells of all patches, level by level, by ascending patch, i fastest, covered ones too, 32 bytes each
/// in the machine's order: int32 level, three int32 indices, int64 patch, float64 density. Throws UserError on all
/// ranks alike if rank 0 cannot write the file.
void write_cells(const std::string& file, const Solver& solver);

}  // namespace advection
