// A rank's trees as analyses take them: leaves with all that is above and beside them.
#pragma once

#include <cstdint>
#include <vector>

#include "forest.hpp"

namespace blast {

/// Cells level by level: the cube, then the children of refined cells in the order of their parents, x fastest.
struct Tree {
  std::size_t begin = 0, end = 0;  ///< its own leaves, of this rank's
  std::vector<Leaf> cells;
  std::vector<std::uint8_t> refined, owned;  ///< a leaf is owned by the tree that has it, and no other cell by anyone
  std::vector<Values> values;  ///< conserved; of refined cells, and of those of other trees, the mean over them
};

/// Collective, with as many blocks on every rank. The leaves of this rank in so many trees, as even as it goes, along
/// Morton's curve: parents of a tree's own leaves are refined; their other children are listed and not refined. Values
/// of all cells are the same bits on every rank, in every tree and for every number of them: of a parent the mean of
/// its eight children.
[[nodiscard]] std::vector<Tree> make_trees(const Forest& forest, const std::vector<Values>& values, int blocks);

}  // namespace blast
