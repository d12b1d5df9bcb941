// One rank's piece of a mesh, and its values as an analysis sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sidestream/data/array.hpp"
#include "sidestream/data/box.hpp"

namespace sidestream {

/// Who and where a block is. Trivially copyable: part of messages and shared memory.
struct Block {
  std::int64_t id = 0;      ///< unique over all clients within a mesh
  std::int32_t mesh = 0;    ///< id of its mesh
  std::int32_t level = 0;   ///< refinement level, 0 is the coarsest
  std::int32_t client = 0;  ///< rank of its client among the clients
  std::int32_t reserved = 0;
  Box cells;  ///< the cells it owns, without ghosts
  constexpr bool operator==(const Block&) const noexcept = default;
};

/// Values of points that another block owns, fetched because an analysis asked for a halo.
struct HaloPiece {
  Box box;
  ArrayView array;
};

/// One block of one variable, on a server, for the duration of one `local` call.
struct BlockView {
  Block block;
  Box points;              ///< all points of the variable in the block's cells, shared nodes included
  std::vector<Box> owned;  ///< the points that count as this block's: disjoint; a shared point is in exactly one block
  ArrayView array;         ///< values as published; covers `points` and perhaps ghosts, which are untrusted
  /// A further copy of a block that counts elsewhere: `owned` is empty. Writers leave it out.
  bool copy = false;
  std::vector<HaloPiece> halo;  ///< values around the block; empty unless the selection asked for a halo

  /// Fills `out`, a gapless array over `region` with i fastest, with component `c` as doubles. Each point comes from
  /// the block that owns it; a point that is nowhere to be had (outside the mesh, a block not delivered, beyond the
  /// halo) becomes a quiet NaN. Returns the number of such points.
  std::int64_t gather(const Box& region, int c, double* out) const;
};

}  // namespace sidestream
