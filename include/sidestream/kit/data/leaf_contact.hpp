// Cells that count on refinement levels, and the contact between such cells of two patches.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/kit/data/block_index.hpp"

namespace sidestream {

/// True if two boxes of cells, each on a level of the mesh, have a common point, possibly only on their sides. False
/// for levels that the mesh lacks.
[[nodiscard]] bool boxes_touch(const Mesh& mesh, const Box& a, std::int32_t level_a, const Box& b,
                               std::int32_t level_b);

/// The leaves of a mesh's patches: cells that finer levels do not cover completely. Surfaces between the centres of
/// leaves depend only on leaves. A patch inside a coarser one touches the patches around it, but only the remaining rim
/// of the coarser one.
class LeafContact {
 public:
  /// `blocks`: all blocks of the mesh; `index`: made from them. Keeps references to all three.
  LeafContact(const Mesh& mesh, std::span<const Block> blocks, const BlockIndex& index)
      : mesh_(mesh), blocks_(blocks), index_(index), leaves_(blocks.size()) {}

  /// The block's leaves as disjoint boxes of its level, computed once.
  [[nodiscard]] const std::vector<Box>& leaves(std::size_t position);
  /// True if leaves of two blocks, given by position, have a point in common.
  [[nodiscard]] bool between(std::size_t a, std::size_t b);
  /// Leaves of block `of` that have a point in common with leaves of block `beside`, as boxes of the level of `of`.
  /// With `whole`, also such cells of `of` that are covered. Boxes may overlap.
  [[nodiscard]] std::vector<Box> rim(std::size_t of, std::size_t beside, bool whole);
  /// Positions of the other blocks that may touch a block, on any level.
  [[nodiscard]] std::vector<std::int64_t> near(std::size_t position) const;

 private:
  const Mesh& mesh_;
  std::span<const Block> blocks_;
  const BlockIndex& index_;
  std::vector<std::optional<std::vector<Box>>> leaves_;
};

/// Cells of a block that count if `beside` is the block itself; otherwise only those that touch block `beside`. Both
/// numbers are positions in a list of blocks.
struct CountedPart {
  std::int64_t position = 0, beside = 0;
  std::vector<Box> cells;
};

/// The parts of some blocks of a mesh.
struct CountedParts {
  std::vector<CountedPart> own;   ///< of blocks that others cover at least in part; without cells if wholly
  std::vector<CountedPart> rims;  ///< for each other block that touches cells that count
};

/// Finds the parts of the blocks at `positions`; boxes of other meshes and lists have none. `index` was made from
/// `blocks`. `in_cells` is true for variables in cells. Otherwise rims also have covered cells of the same level as the
/// other block: a node belongs to the patch with the lowest id, also if that patch's own cells there are covered.
[[nodiscard]] CountedParts counted_parts(const Mesh& mesh, std::span<const Block> blocks, const BlockIndex& index,
                                         std::span<const std::int64_t> positions, bool in_cells);

}  // namespace sidestream
