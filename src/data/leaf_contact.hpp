// Which patches meet in cells that no finer level covers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "data/block_index.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// Of the patches of a mesh on refinement levels, those of which a leaf (a cell that finer levels do not cover whole)
/// has a point in common with a leaf of another. Surfaces between the centres of leaves depend on nothing else: a patch
/// inside a coarse one meets what lies round it, and of the coarse one the rim that is left.
class LeafContact {
 public:
  /// `blocks`: all of the mesh, of which `index` was made; all three are referred to.
  LeafContact(const Mesh& mesh, std::span<const Block> blocks, const BlockIndex& index)
      : mesh_(mesh), blocks_(blocks), index_(index), leaves_(blocks.size()) {}

  /// Of two blocks, by their positions, boxes both; false for those on levels that the mesh does not have.
  [[nodiscard]] bool between(std::size_t a, std::size_t b);

 private:
  /// The block's leaves in disjoint boxes of its level, found once.
  const std::vector<Box>& leaves(std::size_t position);

  const Mesh& mesh_;
  std::span<const Block> blocks_;
  const BlockIndex& index_;
  std::vector<std::optional<std::vector<Box>>> leaves_;
};

/// Whether two boxes of cells, each of a level of the mesh, have a point in common; also one that lies on their sides.
[[nodiscard]] bool boxes_touch(const Mesh& mesh, const Box& a, std::int32_t level_a, const Box& b,
                               std::int32_t level_b);

}  // namespace sidestream
