// The structure of a tree that is stored level by level, packed: which cells are refined, which leaves are owned. The
// bytes: docs/database-format.md, "Trees". Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sidestream/data/box.hpp"
#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// A flag for each cell: 0, or anything else.
using Flags = std::span<const std::uint8_t>;

/// What all trees of a mesh have in common.
struct TreeShape {
  int dimensions = 3;  ///< 1 to 3: a refined cell has 2^dimensions children
  Index roots = 1;     ///< cells of level 0
};

/// Of an octree. Another mesh has none.
[[nodiscard]] std::optional<TreeShape> tree_shape(const Mesh& mesh);

/// The first cell of each level, and last the number of cells. Nothing where the flags are not those of a tree with as
/// many cells. Of no cells: {0}.
[[nodiscard]] std::optional<std::vector<Index>> tree_starts(const TreeShape& shape, Flags refined);

/// `out` becomes the flags, packed: a bit each without those of the deepest level, then zstd. False where they are not
/// those of a tree, or have other values than 0 and 1, which would be lost.
[[nodiscard]] bool pack_refined(const TreeShape& shape, Flags refined, Bytes& out);
/// The reverse; `refined` has as many flags as the tree has cells. Throws Error(file) where `packed` is nothing that
/// pack_refined makes of such a tree.
void unpack_refined(const TreeShape& shape, BytesView packed, std::span<std::uint8_t> refined);

/// `out` becomes the flags of ownership, packed: runs of leaves, and runs of parents whose flag is another one than it
/// is expected to be from their children's. `refined`: of the same cells, flags of a tree. False as above.
[[nodiscard]] bool pack_owned(const TreeShape& shape, Flags refined, Flags owned, Bytes& out);
/// Throws Error(file) where `packed` does not fit the tree.
void unpack_owned(const TreeShape& shape, Flags refined, BytesView packed, std::span<std::uint8_t> owned);

}  // namespace sidestream
