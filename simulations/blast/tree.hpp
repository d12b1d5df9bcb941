// A rank's tree as analyses take it: leaves with all that is above and beside them.
#pragma once

#include <cstdint>
#include <vector>

#include "forest.hpp"

namespace blast {

/// Cells level by level: the cube, then the children of refined cells in the order of their fathers, x fastest.
struct Tree {
  std::vector<Leaf> cells;
  std::vector<std::uint8_t> refined, owned;  ///< a leaf is owned by the rank that has it, and no other cell by anyone
  std::vector<Values> values;  ///< conserved; of refined cells, and of those of other ranks, the mean over them
};

/// Collective. Fathers of this rank's leaves are refined; their other children are listed and not refined. Values of
/// all cells are the same bits on every rank and number of ranks: of a father the mean of its eight children.
[[nodiscard]] Tree make_tree(const Forest& forest, const std::vector<Values>& values);

}  // namespace blast
