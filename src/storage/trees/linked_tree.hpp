// The tree of a block, with what follows from its flags.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/trees/structure.hpp"
#include "storage/trees/values/tree_links.hpp"

namespace sidestream {

/// Of one block of an octree: which cells it has.
class LinkedTree {
 public:
  /// `refined`: of each cell. Throws Error(usage) where these are not flags of a tree of that mesh.
  LinkedTree(const Mesh& mesh, std::vector<std::uint8_t> refined);
  [[nodiscard]] const TreeShape& shape() const noexcept { return shape_; }
  [[nodiscard]] Flags refined() const noexcept { return refined_; }
  [[nodiscard]] Index cells() const noexcept { return starts_.back(); }
  /// The first cell of each level, and the number of cells.
  [[nodiscard]] const std::vector<Index>& starts() const noexcept { return starts_; }
  [[nodiscard]] int levels() const noexcept { return static_cast<int>(starts_.size()) - 1; }
  /// Of the levels below the roots, entry 0 being those of level 1. The first call makes them: not by several threads.
  [[nodiscard]] const std::vector<LevelLinks>& links();

 private:
  TreeShape shape_;
  Index3 roots_;
  std::vector<std::uint8_t> refined_;
  std::vector<Index> starts_;
  std::vector<LevelLinks> links_;
};

/// How the values in cells of a tree are cut: no chunk has cells of two levels, nor a part of a group of siblings.
struct LevelCuts {
  /// The first cell of each chunk, and the number of cells.
  std::vector<Index> cells{0};
  std::vector<std::int32_t> level{};  ///< of each chunk
  [[nodiscard]] std::size_t chunks() const noexcept { return level.size(); }
  /// The chunk of a cell.
  [[nodiscard]] std::size_t chunk_of(Index cell) const noexcept;
};

/// Into as many whole groups of siblings as `chunk` bytes hold. Nothing (no chunks) where not one of them fits.
[[nodiscard]] LevelCuts cut_levels(const LinkedTree& tree, std::uint64_t cell_bytes, std::uint64_t chunk);

}  // namespace sidestream
