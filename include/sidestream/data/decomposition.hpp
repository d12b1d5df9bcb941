// The pieces in which an analysis wants a variable: its blocks as published, or a new division among the servers.
#pragma once

#include <cstdint>

#include "sidestream/data/box.hpp"

namespace sidestream {

struct Mesh;

/// Describes how a structured mesh of one level is divided among the servers. It is uniform, rectilinear or
/// curvilinear, and has 1, 2 or 3 dimensions. Other meshes, and a part other than AllBlocks together with it, are
/// refused when the configuration is checked.
///
/// *Who gets what.* Every server gets one piece of the mesh's cells. It depends only on the mesh, the decomposition and
/// the number of servers (see piece_of), not on the blocks: anybody can compute every piece. If there are more servers
/// than cells to divide, some pieces are empty.
///
/// *In which form.* A server whose piece has cells gets one view, others get none: see LocalInput::at. Its block has
/// the id -1 - (the server's rank), the client -1 and the piece as its cells. There is one array, contiguous in the
/// variable's order and of the variable's type. It covers the points of the piece, including the layer of nodes with
/// which the next piece begins, and as many points around it as the halo is wide. Along axes that the mesh uses it ends
/// at the mesh's faces, or goes beyond them where the mesh is periodic and the selection wraps. `owned` holds the
/// points that count as the piece's: the next piece owns its first nodes, so that over all servers every point of the
/// mesh counts once. `halo` is the rest of the array, so that `gather` gives every point in it.
///
/// *Where values come from.* Each value comes from the block that owns it: where blocks overlap or share nodes, from
/// the one of lowest id; never from ghosts.
///
/// *What is missing.* Points that no block has, or whose block was not delivered, are listed in `absent`. The array has
/// a quiet NaN there, or 0 for whole numbers; neither `owned` nor `halo` has them. An analysis that cannot do without
/// them throws.
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

/// The cells that `server` of `servers` gets; empty if there are none for it. Not for `published`. An axis that is cut
/// into p parts gives each part the same number of cells; the first ones have one more if the division leaves a
/// remainder. Servers are counted with the parts along i fastest. Among all cuts it chooses the one with the smallest
/// largest piece; then the one that leaves the fewest servers without a piece; then the one with the least surface;
/// then the one with the fewest parts along i, then along j.
[[nodiscard]] Box piece_of(const Decomposition& decomposition, const Mesh& mesh, int servers, int server);

}  // namespace sidestream
