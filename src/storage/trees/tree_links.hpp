// Parent and neighbour indices of a level-ordered octree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream {

/// The links of one level below the roots, as SiblingGroups has them; numbers count cells of the level above.
struct LevelLinks {
  std::vector<Index> parent;  ///< the parent of each sibling group
  std::vector<Index> beside;  ///< 2 * dimensions for each group: the neighbours of its parent; -1: none
};

/// Walks down a tree level by level and keeps the neighbours of all cells of the current level.
class TreeDescent {
 public:
  /// Begins at the roots, which are a grid of `roots` cells along the first `dimensions` axes, x fastest.
  TreeDescent(int dimensions, const Index3& roots);
  /// Number of cells of the current level.
  [[nodiscard]] Index cells() const noexcept { return cells_; }
  /// Goes to the level below. `refined`: a flag for each cell of this level; not 0 if the cell has children. Throws
  /// Error(usage) if there are not as many flags as cells.
  [[nodiscard]] LevelLinks descend(std::span<const std::uint8_t> refined);

 private:
  int dimensions_;
  Index cells_ = 0;
  std::vector<Index> beside_;  ///< neighbours of each cell of the current level, as in LevelLinks
};

}  // namespace sidestream
