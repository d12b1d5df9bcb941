// Pieces of a variable as an analysis wants them: its blocks as published, or a new division among the servers.
#pragma once

#include <cstdint>

#include "sidestream/data/box.hpp"

namespace sidestream {

struct Mesh;

/// Describes how a structured mesh of one level is divided among the servers. The mesh is uniform, rectilinear or
/// curvilinear, and has 1, 2 or 3 dimensions. The check of the configuration refuses other meshes, and any part other
/// than AllBlocks.
///
/// *Pieces.* Every server gets one piece of the mesh's cells. The piece depends only on the mesh, the decomposition and
/// the number of servers (see piece_of), not on the blocks. So every process can compute every piece. If there are more
/// servers than cells to divide, some pieces are empty.
///
/// *Form.* A server whose piece has cells gets one view; other servers get none (see LocalInput::at). Its block has the
/// id -1 - (the server's rank), the client -1 and the piece as its cells. There is one array, contiguous in the
/// variable's order and of the variable's type. It covers the points of the piece, including the layer of nodes with
/// which the next piece begins, and the halo around them. Along axes that the mesh uses it ends at the mesh's faces, or
/// goes beyond them if the mesh is periodic and the selection wraps. `owned` holds the points that count as the
/// piece's. The next piece owns its first nodes, so every point of the mesh counts once over all servers. `halo` is the
/// rest of the array, so that `gather` gives every point in it.
///
/// *Source of values.* Each value comes from the block that owns it, never from ghosts. If blocks overlap or share
/// nodes, it comes from the block of lowest id.
///
/// *Missing points.* Points that no block has, or whose block was not delivered, are listed in `absent`. The array has
/// a quiet NaN there, or 0 for integers; neither `owned` nor `halo` has them. An analysis that needs them throws.
struct Decomposition {
  enum class Kind : std::int32_t {
    published = 0,  ///< the blocks as published, wherever they are
    slabs = 1,      ///< cut across `axis`: each server has the whole of the other axes
    pencils = 2,    ///< cut across the other axes: each server has whole lines along `axis`
    bricks = 3,     ///< cut across all axes, as near to cubes as the number of servers allows
  };
  Kind kind = Kind::published;
  std::int32_t axis = 0;  ///< 0, 1 or 2, one that the mesh uses; ignored for bricks

  [[nodiscard]] static constexpr Decomposition slabs(int axis) noexcept { return {Kind::slabs, axis}; }
  [[nodiscard]] static constexpr Decomposition pencils(int axis) noexcept { return {Kind::pencils, axis}; }
  [[nodiscard]] static constexpr Decomposition bricks() noexcept { return {Kind::bricks, 0}; }
  [[nodiscard]] constexpr bool is_published() const noexcept { return kind == Kind::published; }
  constexpr bool operator==(const Decomposition&) const noexcept = default;
};

/// The cells that `server` of `servers` gets, which may be none. Not for `published`. An axis that is cut into p parts
/// gives each part the same number of cells; the first ones have one more if the division leaves a remainder. The
/// numbers of servers run fastest along the parts of i. The chosen cut has the smallest largest piece. Ties go to the
/// cut that leaves the fewest servers without a piece, then to the least surface, then to the fewest parts along i,
/// then along j.
[[nodiscard]] Box piece_of(const Decomposition& decomposition, const Mesh& mesh, int servers, int server);

}  // namespace sidestream
