// The data of an iteration that an analysis needs.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/decomposition.hpp"
#include "sidestream/data/range.hpp"

namespace sidestream {

// Selection of blocks of a variable. A block's span is the region between its first points and the first points beyond
// it on the upper sides; at the mesh's faces it ends at the faces. Spans fill the mesh without gaps, also between the
// points of a cell-centred variable. So a block contributes nothing to a surface that misses its span.

/// All blocks.
struct AllBlocks {};

/// Blocks whose span a plane meets. If the mesh has no axes (see Geometry::axes), these are the blocks whose bounds it
/// meets and the blocks without known bounds.
struct PlaneCut {
  std::array<double, 3> origin{0, 0, 0};
  std::array<double, 3> normal{0, 0, 1};  ///< not zero; of any length
  std::int32_t of = -1;                   ///< the variable whose points bound the spans; -1: the selected variable
};

/// Blocks in whose span a variable takes values on both sides of one of `values`, or values that may lie inside one of
/// the open `intervals`. Ranges decide this; they are measured if an analysis that asks for them is due in the
/// iteration. Surplus blocks are chosen only where blocks of different widths meet. On refinement levels and trees,
/// values next to the block count on all its sides. If `Selected::covered` is false, only cells that count decide
/// there; otherwise the whole blocks that touch it decide, which selects more.
struct ValuesBracketed {
  std::vector<double> values;
  RangeRequest of{};  ///< variable -1: the selected variable
  std::vector<std::array<double, 2>> intervals{};
};

/// Blocks with cells in `cells`, which counts in indices of the block's level, and all blocks that are lists.
struct InBox {
  Box cells;
};

/// Blocks of one refinement level.
struct OnLevel {
  std::int32_t level = 0;
};

/// The data about a block that a predicate receives.
struct BlockSummary {
  Block block;
  std::array<double, 3> low{}, high{};  ///< bounding box of its cells; infinite if it is not known
  Range range;  ///< range of its points (of points that count, without `Selected::covered`), if requested; otherwise
                ///< empty
};

/// Blocks for which `needed` returns true. It must be a pure function. Without a range, every server calls it for every
/// block. With a range, only the server of the block's client calls it, since only that server has the range.
struct BlockPredicate {
  std::function<bool(const BlockSummary&)> needed;
  RangeRequest range{};  ///< variable -1: no range is wanted
};

/// One of the kinds of parts above; `kind` tells which member is valid.
struct Part {
  enum class Kind : std::int32_t { all, plane, values, box, level, predicate };
  Part() = default;
  Part(AllBlocks) {}                                                          // NOLINT: meant to convert
  Part(PlaneCut cut) : kind(Kind::plane), plane(cut) {}                       // NOLINT
  Part(ValuesBracketed v) : kind(Kind::values), values(std::move(v)) {}       // NOLINT
  Part(InBox in) : kind(Kind::box), box(in) {}                                // NOLINT
  Part(OnLevel on) : kind(Kind::level), level(on) {}                          // NOLINT
  Part(BlockPredicate p) : kind(Kind::predicate), predicate(std::move(p)) {}  // NOLINT

  Kind kind = Kind::all;
  PlaneCut plane{};
  ValuesBracketed values{};
  InBox box{};
  OnLevel level{};
  BlockPredicate predicate{};
};

/// One variable, its pieces, its blocks, and the width of the halo around each of them. For published blocks, `local`
/// gets at least these blocks as wholes with at least that halo. It may get more if other analyses need more or the
/// values are already in place. A decomposition is delivered exactly.
struct Selected {
  Selected() = default;
  Selected(std::int32_t wanted, std::int32_t width = 0, Part which = {}, Decomposition pieces = {})
      : variable(wanted), halo(width), part(std::move(which)), decomposition(pieces) {}

  std::int32_t variable = -1;
  /// Number of points on every side. They come from the blocks that own them, or from ghosts if these are declared
  /// filled.
  std::int32_t halo = 0;
  Part part{};
  Decomposition decomposition{};
  /// True if the halo continues at the mesh's other end along periodic axes, also more than once around. For n cells,
  /// -1 then maps to n - 1 and n to 0; for their nodes 0 to n, -1 maps to n - 1 and n + 1 to 1.
  bool wrap = true;
  /// True if arrays are wanted as published, with the ghosts around the block: BlockView::array covers these. If false,
  /// it may cover them. In a part of a block, this holds on the sides on which the block ends. Ignored for
  /// decompositions.
  bool ghosts = false;
  /// True if blocks that finer levels cover completely are wanted, too, although none of their points counts (see
  /// BlockView::covered). If false, they need not move, but `local` may get them. Ignored for decompositions.
  bool covered = true;
  /// True if blocks are wanted with all points of their cells. On a mesh with owned points (Mesh::owned_points) the
  /// upper nodes then come from the blocks that own them, into a copy of the block. If false, they may be present.
  /// Ignored for decompositions. Treated as false for all entries if Selection::geometry is false.
  bool completed = true;
};

/// Everything that an analysis needs. The union over the due analyses moves.
struct Selection {
  Selection() = default;
  Selection(std::vector<Selected> selected) : variables(std::move(selected)) {}  // NOLINT: meant to convert

  /// A variable may be listed several times. The union moves; the data of each entry is at LocalInput::at(its number).
  std::vector<Selected> variables{};
  bool catalogue = false;  ///< LocalInput::catalogue is wanted: all blocks of all servers
  /// True if the arrays with a mesh's positions are delivered with variables that are selected on it. If false, only
  /// the flags of ghosts and of trees are, since they decide which points count.
  bool geometry = true;
  std::vector<RangeRequest> ranges;  ///< with `catalogue`: the ranges requested in it
};

}  // namespace sidestream
