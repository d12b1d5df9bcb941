// The blocks that exist, their positions and, on request, the ranges of their values: the part of the metadata that may
// change.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/range.hpp"
#include "sidestream/data/selection.hpp"

namespace sidestream {

/// Geometry and ranges of all blocks, as separate records: the first changes when blocks do, the second with every
/// iteration. Quantities that follow from them (bounds, numbers of points and cells, bytes) are not stored: see the
/// functions below.
struct Catalogue {
  bool global = false;  ///< true: the blocks of all clients; false: only those of this process
  std::vector<Block> blocks;
  std::vector<BlockRange> ranges;  ///< those that were asked for, in no particular order
};

/// Lower and upper corner of a box of cells in space: node positions, or indices if the mesh has no axes. Along axes
/// that the mesh does not use both are equal.
[[nodiscard]] std::array<std::array<double, 3>, 2> bounds_of(const Mesh& mesh, const Box& cells);
/// Bounds of a block's points. For meshes without axes: those that the simulation declared, otherwise infinite.
[[nodiscard]] Bounds bounds_of(const Mesh& mesh, const Block& block);
/// Bytes of a variable on a block, without ghosts. Throws Error on 64-bit overflow.
[[nodiscard]] std::uint64_t bytes_of(const Variable& variable, const Block& block);

/// Decides, for every block of the variable's mesh, whether a selection needs it. Made once for a list of blocks, asked
/// for each selection. Keeps references to its constructor's arguments.
class Needs {
 public:
  /// `blocks`: all blocks of all meshes. `ranges`: those that the selections need; a block without one counts as not
  /// delivered and is not needed.
  Needs(const Metadata& metadata, std::span<const Block> blocks, std::span<const BlockRange> ranges);
  /// One entry for each of `blocks`; false for blocks of other meshes and empty ones. Takes at most O(n log n).
  [[nodiscard]] std::vector<bool> of(const Selected& selected) const;

 private:
  [[nodiscard]] std::vector<bool> cut(const Variable& selected, const PlaneCut& plane) const;
  [[nodiscard]] std::vector<bool> bracketed(const Variable& variable, const ValuesBracketed& part) const;
  [[nodiscard]] std::vector<const BlockRange*> ranges_of(const RangeRequest& request) const;

  const Metadata& metadata_;
  std::span<const Block> blocks_;
  std::span<const BlockRange> ranges_;
};

}  // namespace sidestream
