// The contract between `merge_tree` and the cells of a mesh.
//
// A forest has the trees of a server's cells: of boxes (BoxForest) or of all its cells together (AmrForest). MergeTree
// (merge_task.hpp) is one sequence of stages for every forest:
//
// - `build` makes the trees, and lists what is needed to join them with others. `meet`, collective, finds where
//   `Border` cells of different trees touch, also of other servers.
// - `for_each_cell(tree, boundary, f)` calls f(cell, value, number of its maximum in the tree). `set_input` is called
//   before, if the values are not in the forest. `id_of(cell)` is the cell's number in the whole mesh, which breaks
//   ties. `find` looks for the cell at a place of a question.
// - `add` adds a cell to a halo's sums, in units of `unit_volume()`. If cells differ in size (not `equal_cells`),
//   `add_places` and `add_cells` add columns about cells of given ids.
#pragma once

#include <vector>

#include "cosmology/halos/merge_tree/tree_joining.hpp"
#include "sidestream/extend/exact_sum.hpp"

namespace sidestream::halos {

/// Everything needed to join trees.
template <class Border>
struct Built {
  std::vector<Border> border;
  std::vector<Triplet> open;
  void append(std::vector<Border>&& cells, const std::vector<Triplet>& triplets) {
    if (border.empty()) {
      border = std::move(cells);
    } else {
      border.insert(border.end(), cells.begin(), cells.end());
    }
    open.insert(open.end(), triplets.begin(), triplets.end());
  }
};

/// A halo found by a query of thresholds. Sent between servers with exact sums.
struct TreeHalo {
  ValuedCell top;
  Index cells = 0;
  ExactSum mass, volume;  ///< volume: only if cells are not equal
};

/// A cell, and its maximum in the tree.
struct FoundCell {
  ValuedCell cell, top;
};

}  // namespace sidestream::halos
