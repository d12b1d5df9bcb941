// The existing blocks, their positions and, on request, the ranges of their values. This part of the metadata may
// change.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/data/range.hpp"
#include "sidestream/data/selection.hpp"

namespace sidestream {

/// Geometry and ranges of all blocks, as separate records: the geometry changes when blocks change, the ranges change
/// with every iteration. Quantities that follow from them (bounds, numbers of points and cells, bytes) are not stored:
/// see the functions below.
struct Catalogue {
  bool global = false;  ///< true: the blocks of all clients; false: only those of this process
  std::vector<Block> blocks;
  std::vector<BlockRange> ranges;  ///< the requested ranges, in no particular order
  /// The requested ranges of cells that count, on refinement levels and trees; in no particular order. A patch that no
  /// finer patch covers has no entry for itself.
  std::vector<CountedRange> counted{};
};

/// Lower and upper corner of a box of cells in space: node positions, or indices if the mesh has no axes. Along axes
/// that the mesh does not use both are equal.
[[nodiscard]] std::array<std::array<double, 3>, 2> bounds_of(const Mesh& mesh, const Box& cells);
/// Bounds of a block's points. For meshes without axes they are the bounds that the simulation declared, or else
/// infinite.
[[nodiscard]] Bounds bounds_of(const Mesh& mesh, const Block& block);
/// Bytes of a variable on a block, without ghosts. Throws Error on 64-bit overflow.
[[nodiscard]] std::uint64_t bytes_of(const Variable& variable, const Block& block);

/// Decides which blocks of a variable's mesh a selection needs. Made once for a list of blocks and used for each
/// selection. Keeps references to its constructor's arguments.
class Needs {
 public:
  /// `blocks`: all blocks of all meshes. `ranges`: the ranges that the selections need. A block without a range counts
  /// as not delivered and is not needed. `counted`: ranges of cells that count, for selections without covered blocks
  /// on levels; without it, whole ranges and those of touching blocks decide, so that more blocks are needed.
  Needs(const Metadata& metadata, std::span<const Block> blocks, std::span<const BlockRange> ranges,
        std::optional<std::span<const CountedRange>> counted = std::nullopt);
  /// One entry for each of `blocks`; false for blocks of other meshes and empty ones. Takes at most O(n log n).
  [[nodiscard]] std::vector<bool> of(const Selected& selected) const;

 private:
  [[nodiscard]] std::vector<bool> cut(const Variable& selected, const PlaneCut& plane) const;
  [[nodiscard]] std::vector<bool> bracketed(const Selected& selected) const;
  [[nodiscard]] std::vector<const BlockRange*> ranges_of(const RangeRequest& request) const;
  [[nodiscard]] std::vector<Range> own_ranges(const Selected& selected, const RangeRequest& request) const;
  [[nodiscard]] std::vector<Range> ranges_on_levels(const Selected& selected, const RangeRequest& request) const;

  const Metadata& metadata_;
  std::span<const Block> blocks_;
  std::span<const BlockRange> ranges_;
  std::optional<std::span<const CountedRange>> counted_;
};

}  // namespace sidestream
