// Blocks of a made mesh that do not depend on the number of servers.
//
// Analyses divide their arrays by servers. What works by block, as `relevance`, would then give other results with
// another number of servers. So a mesh that servers fill together is divided into bricks, and parts move to the server
// of their brick.
#pragma once

#include <vector>

#include "session/made/made_block.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Boxes of equal size that divide the cells of a mesh; the last ones along each axis may be smaller. Their edge is a
/// power of two of at least 16 cells: the least one that gives at most 64 bricks, or bricks of 2^21 cells.
class Bricks {
 public:
  explicit Bricks(const Box& cells);

  [[nodiscard]] Index count() const noexcept { return along_[0] * along_[1] * along_[2]; }
  /// The cells of a brick. Ids count from 0, along x first.
  [[nodiscard]] Box cells(Index id) const noexcept;
  /// The ids of the bricks that share cells with `box`, which lies in the mesh, ascending.
  [[nodiscard]] std::vector<Index> touched_by(const Box& box) const;

 private:
  void divide(Index edge) noexcept;

  Box cells_;
  Index edge_ = 0;
  Index3 along_{1, 1, 1};  ///< number along each axis
};

/// Exchanges the parts of a result, `mine` on this server, so that each server gets whole bricks: ranges of ids, also
/// none. If parts overlap, do not fill the mesh or have different arrays, returns `mine`, with the server as id.
/// Collective.
[[nodiscard]] std::vector<MadeBlock> in_bricks(MadeBlock mine, const Mesh& mesh, const Metadata& metadata,
                                               Communicator& servers);

}  // namespace sidestream
