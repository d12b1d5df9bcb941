// Contact between patches in cells that no finer level covers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/kit/data/block_index.hpp"

namespace sidestream {

/// Finds the patches of a mesh on refinement levels whose leaves have a point in common. A leaf is a cell that finer
/// levels do not cover completely. Surfaces between the centres of leaves depend on nothing else. A patch inside a
/// coarse one touches the patches around it, but only the remaining rim of the coarse one.
class LeafContact {
 public:
  /// `blocks` are all blocks of the mesh, from which `index` was made; references to all three are kept.
  LeafContact(const Mesh& mesh, std::span<const Block> blocks, const BlockIndex& index)
      : mesh_(mesh), blocks_(blocks), index_(index), leaves_(blocks.size()) {}

  /// True if two blocks, given by position and both boxes, are in contact. False for those on levels that the mesh does
  /// not have.
  [[nodiscard]] bool between(std::size_t a, std::size_t b);

 private:
  /// The block's leaves as disjoint boxes of its level, computed once.
  const std::vector<Box>& leaves(std::size_t position);

  const Mesh& mesh_;
  std::span<const Block> blocks_;
  const BlockIndex& index_;
  std::vector<std::optional<std::vector<Box>>> leaves_;
};

/// True if two boxes of cells, each on a level of the mesh, have a point in common, at least on their sides.
[[nodiscard]] bool boxes_touch(const Mesh& mesh, const Box& a, std::int32_t level_a, const Box& b,
                               std::int32_t level_b);

}  // namespace sidestream
