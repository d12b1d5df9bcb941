// Neighbours' layers for blocks: copied between servers, pointed at within one.
#pragma once

#include <vector>

#include "server/block_table.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// One variable whose blocks need a halo. `views` are this server's blocks of it, by ascending id.
struct HaloRequest {
  const Variable* variable;
  std::int32_t width;
  std::vector<BlockView>* views;
  std::vector<bool> needed{};  ///< by position in the table: blocks that need a halo; empty: all do
};

/// Fills `halo` of every view with the points within `width` of its points that other blocks own and have delivered.
/// Values come from the owner, never from published ghosts, so that they are the same however the mesh is divided.
/// Collective over the servers; all servers give the same variables and widths. Pieces from other servers point into
/// the returned memory, which must outlive the views.
[[nodiscard]] std::vector<Bytes> exchange_halos(const BlockTable& table, const std::vector<HaloRequest>& requests,
                                                Communicator& servers);

}  // namespace sidestream
