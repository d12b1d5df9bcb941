// Trees that are stored level by level: where levels begin, which cells count.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// The first cell of each level of a block's tree, and last the number of its cells. `refined`: its array of that role.
/// Throws Error(usage) if the flags are not those of a tree with as many cells. Without cells: {0}.
[[nodiscard]] std::vector<Index> level_starts(const Mesh& mesh, const Block& block, const ArrayView& refined);

/// Where a cell is: `index` counts cells of its level from the first of the mesh.
struct TreeCell {
  std::int32_t level;
  Index3 index;
};

/// The cells of a tree in the order in which they are stored. Throws as level_starts does.
[[nodiscard]] std::vector<TreeCell> tree_cells(const Mesh& mesh, const Block& block, const ArrayView& refined);

/// For each cell of a tree 0 if it counts: a leaf that this block owns. Without data in `owned` it owns all.
[[nodiscard]] std::vector<std::uint8_t> uncounted_cells(const ArrayView& refined, const ArrayView& owned);

}  // namespace sidestream
