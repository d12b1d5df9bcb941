// Blocks of files as they are published: large ones in parts, shared among the ranks.
#pragma once

#include <functional>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream::analysing {

/// A block that is published, and the stored one that it is a part of.
struct Piece {
  Block block;             ///< its mesh as in the metadata that it was cut for
  std::size_t stored = 0;  ///< position among the stored blocks
};

/// By mesh, level and id, each stored block whole or in parts. How they are cut depends on the blocks alone and not on
/// who reads them, so that results are the same for every number of ranks: boxes of more cells than the 256th part of
/// their mesh has, 2^15 at least and 2^24 at most, are halved along their longest axis until they have no more, at
/// multiples of the ratio between their level and the one below. Ids are those of the file where no block of the mesh
/// is cut, otherwise they count parts in their order.
[[nodiscard]] std::vector<Piece> cut(const std::vector<Block>& stored, const Metadata& metadata);

/// The rank that each part goes to: of each mesh the parts in a row, as many bytes for each rank as for others.
/// `bytes`: what is read of a part in the iteration in which most is.
[[nodiscard]] std::vector<int> shares(const std::vector<Piece>& parts, const std::vector<std::uint64_t>& bytes,
                                      int ranks);

}  // namespace sidestream::analysing
