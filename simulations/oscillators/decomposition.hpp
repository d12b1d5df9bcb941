// Division of cells into blocks, and distribution of blocks to ranks.
#pragma once

#include <vector>

#include "field.hpp"

namespace oscillators {

/// Number of blocks along each axis: the factorisation of `blocks` with the least block surface on a grid of `cells`,
/// with at least one cell per block. Throws UserError if there is none.
[[nodiscard]] Index3 near_cubic(std::int64_t blocks, const Index3& cells);

/// The cells of block `id`; ids count along i first. Extents differ by at most one.
[[nodiscard]] Box block_cells(std::int64_t id, const Index3& layout, const Index3& cells);

/// The blocks of `rank`: [first, last). Consecutive and balanced; with fewer blocks than ranks some have none.
struct Share {
  std::int64_t first, last;
};
[[nodiscard]] Share share_of(int rank, int ranks, std::int64_t blocks);

}  // namespace oscillators
