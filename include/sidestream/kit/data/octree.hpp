// Level-ordered octrees: the beginnings of levels, the positions of cells, and the cells that count.
#pragma once

#include <cstdint>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// The first cell of each level of a block's tree, followed by the number of its cells; {0} if it has no cells.
/// `refined`: the block's array of that role. Throws Error(usage) if the flags do not form a tree with as many cells.
[[nodiscard]] std::vector<Index> level_starts(const Mesh& mesh, const Block& block, const ArrayView& refined);

/// A cell of any level. `index` counts cells of that level from the first of the mesh.
struct TreeCell {
  std::int32_t level;
  Index3 index;
};

/// The cells of a tree in the order of storage. Throws as level_starts() does.
[[nodiscard]] std::vector<TreeCell> tree_cells(const Mesh& mesh, const Block& block, const ArrayView& refined);

/// A number for each cell of a tree: 0 if it is a leaf that this block owns, else 1. Without data in `owned`, the block
/// owns all cells.
[[nodiscard]] std::vector<std::uint8_t> uncounted_cells(const ArrayView& refined, const ArrayView& owned);

}  // namespace sidestream
