// One rank's piece of a mesh, and its values as an analysis sees them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sidestream/data/array.hpp"
#include "sidestream/data/box.hpp"

namespace sidestream {

/// The numbering of the points of a block: by (i, j, k) in a box of the mesh's global indices, or from 0 in its own
/// lists. For boxes, the further bits 2, 4 and 8 are Block::is_open along x, y and z.
enum class IndexSpace : std::int32_t { box = 0, list = 1 };

/// A region in space. If `low` is above `high`, its position is unknown.
struct Bounds {
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  std::array<double, 3> low{infinity, infinity, infinity};
  std::array<double, 3> high{-infinity, -infinity, -infinity};
  [[nodiscard]] constexpr bool known() const noexcept {
    return low[0] <= high[0] && low[1] <= high[1] && low[2] <= high[2];
  }
  bool operator==(const Bounds& other) const noexcept { return low == other.low && high == other.high; }
};

/// Lengths of the lists of a block, other than its number of cells.
struct ListLengths {
  Index points = 0;
  Index corners = 0;  ///< entries of the connectivity
  Index faces = 0;    ///< entries of the faces of polyhedra
  bool operator==(const ListLengths& other) const noexcept {
    return points == other.points && corners == other.corners && faces == other.faces;
  }
};

/// Identity and position of a block. Trivially copyable: part of messages and shared memory.
struct Block {
  std::int64_t id = 0;      ///< unique over all clients within a mesh
  std::int32_t mesh = 0;    ///< id of its mesh
  std::int32_t level = 0;   ///< refinement level, 0 is the coarsest
  std::int32_t client = 0;  ///< rank of its client among the clients
  IndexSpace space = IndexSpace::box;
  Box cells{};            ///< the cells that it owns, without ghosts; [0, n) x [0, 1) x [0, 1) for a list of n cells
  ListLengths lengths{};  ///< for lists only
  Bounds bounds{};        ///< bounds of its points, if the simulation gives them; computed for meshes with axes

  [[nodiscard]] constexpr bool is_list() const noexcept { return space == IndexSpace::list; }
  /// True if the nodes at the upper end of its cells on `axis` belong to another block (Mesh::owned_points).
  [[nodiscard]] constexpr bool is_open(int axis) const noexcept {
    return (static_cast<std::uint32_t>(space) >> (axis + 1) & 1u) != 0;
  }
  /// The block with only some of its cells. It has the nodes at their upper end, unless the whole block lacks them.
  [[nodiscard]] Block part(const Box& some) const noexcept {
    Block one = *this;
    one.cells = some;
    auto bits = static_cast<std::uint32_t>(space);
    for (int a = 0; a < 3; ++a) {
      const auto n = static_cast<std::size_t>(a);
      if (!is_list() && some.hi[n] < cells.hi[n]) bits &= ~(2u << a);
    }
    one.space = static_cast<IndexSpace>(bits);
    return one;
  }
  /// True if it has no values at all.
  [[nodiscard]] constexpr bool empty() const noexcept { return cells.empty() && lengths.points == 0; }
  /// True if both have the same indices; their positions in space may differ.
  [[nodiscard]] bool same_shape(const Block& other) const noexcept {
    return space == other.space && level == other.level && cells == other.cells && lengths == other.lengths;
  }
  bool operator==(const Block& other) const noexcept {
    return id == other.id && mesh == other.mesh && client == other.client && bounds == other.bounds &&
           same_shape(other);
  }
};

/// The indices of a list of `count` values.
[[nodiscard]] constexpr Box list_box(Index count) noexcept { return {{0, 0, 0}, {count, 1, 1}}; }

/// Values of points that another block owns, fetched because an analysis asked for a halo.
struct HaloPiece {
  Box box;
  ArrayView array;
};

/// One block of one variable, on a server, for the duration of one `local` call.
struct BlockView {
  Block block;
  Box points;              ///< all points of the variable in the block's cells, nodes of neighbours included; without
                           ///< upper nodes that only a neighbour has if no selection wants them (Selected::completed)
  std::vector<Box> owned;  ///< the points that count as this block's; disjoint, and exactly one block has a shared
                           ///< point
  ArrayView array;         ///< values as published; covers `points` and perhaps ghosts: see Variable::filled
  /// True for a further copy of a block that counts elsewhere. Its `owned` is empty, and writers omit it.
  bool copy = false;
  std::vector<HaloPiece> halo;  ///< values around the block; empty unless the selection asked for a halo
  /// Cells of the block's level that a finer level covers, in the block and next to it; disjoint. The points of these
  /// cells (see points_of) coincide with finer points, so code that counts each point once skips them.
  std::vector<Box> covered{};
  /// The simulation's flag for each point of the array (role point_ghosts or cell_ghosts). If it is not 0, the point
  /// counts elsewhere or nowhere. Without data there are no flags.
  ArrayView ghosts{};
  /// Points that the array covers but that have no values: they are NaN there, or 0 for integers. Disjoint. Used for
  /// pieces of decompositions, and for upper nodes of an undelivered neighbour.
  std::vector<Box> absent{};

  /// The points that count once over all blocks and levels. These are the points of `owned` that do not belong to
  /// covered cells. Flags in `ghosts` are ignored.
  [[nodiscard]] std::vector<Box> counted() const;
  /// Fills `out`, a contiguous array over `region` with i fastest, with component `c` as doubles. Each point comes from
  /// the block that owns it. A point that is not available (outside the mesh, in a block that was not delivered, beyond
  /// the halo) becomes a quiet NaN. Returns the number of such points.
  std::int64_t gather(const Box& region, int c, double* out) const;
};

}  // namespace sidestream
