// Who is whose parent, and who is beside whom, in a tree that is stored level by level.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/box.hpp"

namespace sidestream {

/// Of one level but the roots: what SiblingGroups refers to, numbers being those of cells in the level above.
struct LevelLinks {
  std::vector<Index> parent;  ///< of each sibling group
  std::vector<Index> beside;  ///< of each group, 2 * dimensions: what is beside its parent; -1: nothing
};

/// Goes down a tree, one level at a time, and knows for the level it is at who is beside whom.
class TreeDescent {
 public:
  /// At the roots: a grid of `roots` cells, x fastest, of which the first `dimensions` axes count.
  TreeDescent(int dimensions, const Index3& roots);
  /// Cells of the level it is at.
  [[nodiscard]] Index cells() const noexcept { return cells_; }
  /// To the level below. `refined`: of each cell of this level, other than 0: it has children. Throws Error(usage) if
  /// there are not as many flags as cells.
  [[nodiscard]] LevelLinks descend(std::span<const std::uint8_t> refined);

 private:
  int dimensions_;
  Index cells_ = 0;
  std::vector<Index> beside_;  ///< of each cell of the level it is at, as LevelLinks
};

}  // namespace sidestream
