// Trees that are stored level by level: the beginnings of levels, the cells that count.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// The first cell of each level of a block's tree, and last the number of its cells. `refined` is its array of that
/// role. Throws Error(usage) if the flags do not describe a tree with as many cells. Without cells: {0}.
[[nodiscard]] std::vector<Index> level_starts(const Mesh& mesh, const Block& block, const ArrayView& refined);

/// Position of a cell: `index` counts cells of its level from the first of the mesh.
struct TreeCell {
  std::int32_t level;
  Index3 index;
};

/// The cells of a tree in the order in which they are stored. Throws as level_starts does.
[[nodiscard]] std::vector<TreeCell> tree_cells(const Mesh& mesh, const Block& block, const ArrayView& refined);

/// 0 for each cell of a tree that counts, which is a leaf that this block owns. Without data in `owned` it owns all.
[[nodiscard]] std::vector<std::uint8_t> uncounted_cells(const ArrayView& refined, const ArrayView& owned);

}  // namespace sidestream
