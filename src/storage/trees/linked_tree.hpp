// A block's octree with the links that follow from its refinement flags: the parent and the neighbours of each sibling
// group.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/box.hpp"
#include "storage/trees/structure.hpp"

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

/// The structure of one block's octree.
class LinkedTree {
 public:
  /// `refined`: a flag for each cell. Throws Error(usage) if they are not the flags of a tree on that mesh.
  LinkedTree(const Mesh& mesh, std::vector<std::uint8_t> refined);
  [[nodiscard]] const TreeShape& shape() const noexcept { return shape_; }
  [[nodiscard]] Flags refined() const noexcept { return refined_; }
  [[nodiscard]] Index cells() const noexcept { return starts_.back(); }
  /// The first cell of each level, followed by the number of cells.
  [[nodiscard]] const std::vector<Index>& starts() const noexcept { return starts_; }
  [[nodiscard]] int levels() const noexcept { return static_cast<int>(starts_.size()) - 1; }
  /// Links of the levels below the roots; entry 0 is level 1. The first call makes them and is not thread-safe.
  [[nodiscard]] const std::vector<LevelLinks>& links();

 private:
  TreeShape shape_;
  Index3 roots_;
  std::vector<std::uint8_t> refined_;
  std::vector<Index> starts_;
  std::vector<LevelLinks> links_;
};

/// Cuts the values of a tree into chunks. A chunk lies in one level and has whole sibling groups only.
struct LevelCuts {
  /// The first cell of each chunk, followed by the number of cells.
  std::vector<Index> cells{0};
  std::vector<std::int32_t> level{};  ///< of each chunk
  [[nodiscard]] std::size_t chunks() const noexcept { return level.size(); }
  /// The chunk that contains the cell.
  [[nodiscard]] std::size_t chunk_of(Index cell) const noexcept;
};

/// Cuts a tree into chunks of as many whole sibling groups as `chunk` bytes hold. No chunks if not even one fits.
[[nodiscard]] LevelCuts cut_levels(const LinkedTree& tree, std::uint64_t cell_bytes, std::uint64_t chunk);

}  // namespace sidestream
