// A block's tree with the links that follow from its refinement flags.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/trees/structure.hpp"
#include "storage/trees/tree_links.hpp"

namespace sidestream {

/// The structure of one block's octree.
class LinkedTree {
 public:
  /// `refined`: a flag for each cell. Throws Error(usage) if they are not the flags of a tree on that mesh.
  LinkedTree(const Mesh& mesh, std::vector<std::uint8_t> refined);
  [[nodiscard]] const TreeShape& shape() const noexcept { return shape_; }
  [[nodiscard]] Flags refined() const noexcept { return refined_; }
  [[nodiscard]] Index cells() const noexcept { return starts_.back(); }
  /// The first cell of each level, and last the number of cells.
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
  /// The first cell of each chunk, and last the number of cells.
  std::vector<Index> cells{0};
  std::vector<std::int32_t> level{};  ///< of each chunk
  [[nodiscard]] std::size_t chunks() const noexcept { return level.size(); }
  /// The chunk that contains the cell.
  [[nodiscard]] std::size_t chunk_of(Index cell) const noexcept;
};

/// Cuts a tree into chunks of as many whole sibling groups as `chunk` bytes hold. No chunks if not even one fits.
[[nodiscard]] LevelCuts cut_levels(const LinkedTree& tree, std::uint64_t cell_bytes, std::uint64_t chunk);

}  // namespace sidestream
