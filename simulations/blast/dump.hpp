// Writes all leaves into one raw file, for comparing runs. Everything passes through rank 0, so trees should be small.
#pragma once

#include <string>

#include "solver.hpp"

namespace blast {

/// Collective. Writes the leaves in Morton order, 56 bytes each in the machine's order: int32 level, three int32
/// indices, float64 density, three of momentum, energy. Throws UserError on all ranks alike if rank 0 cannot write the
/// file.
void write_leaves(const std::string& file, const Solver& solver);

}  // namespace blast
