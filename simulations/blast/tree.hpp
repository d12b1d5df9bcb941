// A rank's trees in the form for analyses: leaves with all cells above and next to them.
#pragma once

#include <cstdint>
#include <vector>

#include "forest.hpp"

namespace blast {

/// Cells by level: the cube, then the children of refined cells in the order of their parents, x fastest.
struct Tree {
  std::size_t begin = 0, end = 0;  ///< range of its own leaves among this rank's
  std::vector<Leaf> cells;
  std::vector<std::uint8_t> refined, owned;  ///< only the tree's own leaves are owned
  std::vector<Values> values;  ///< conserved; for refined cells, and those of other trees, the mean over them
};

/// Collective, with the same number of blocks on every rank. Divides the leaves of this rank evenly into trees along
/// Morton's curve. Parents of a tree's own leaves are refined; their other children are listed but not refined. Values
/// of all cells are bitwise equal on every rank, in every tree and for every number of trees: a parent has the mean of
/// its eight children.
[[nodiscard]] std::vector<Tree> make_trees(const Forest& forest, const std::vector<Values>& values, int blocks);

}  // namespace blast
