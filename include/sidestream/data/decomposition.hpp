// In what pieces an analysis wants a variable: as its blocks were published, or divided anew among the servers.
#pragma once

#include <cstdint>

#include "sidestream/data/box.hpp"

namespace sidestream {

struct Mesh;

/// How a structured mesh of one level (uniform, rectilinear or curvilinear; of 1, 2 or 3 dimensions) is divided among
/// the servers. Other meshes, and a part other than AllBlocks beside it, are refused when the configuration is checked.
///
/// *Who gets what.* Every server gets one piece of the mesh's cells, which depends on the mesh, the decomposition and
/// the number of servers alone (see piece_of), not on the blocks: anybody can compute everybody's. Where there are more
/// servers than cells to divide some pieces are empty.
///
/// *As what.* A server whose piece has cells gets one view, others get none: see LocalInput::at. Its block has the id
/// -1 - (the server's rank), the client -1 and the piece as its cells. The array is one, gapless in the variable's
/// order, and of the variable's type. It covers the points of the piece, the layer of nodes that the next piece begins
/// with included, and as many points round it as the halo is wide: along axes that the mesh uses, up to its faces, and
/// beyond them where the mesh is periodic and the selection wraps. `owned` is what counts as the piece's: the next
/// piece has its own first nodes, so that over all servers every point of the mesh counts once. `halo` is the rest of
/// the array, so that `gather` gives every point that is in it.
///
/// *From where.* Each value comes from the block that owns it: where blocks overlap or share nodes, from the one of
/// lowest id; never from ghosts.
///
/// *What is not there.* Points that no block has, or whose block was not delivered, are listed in `absent`; the array
/// has a quiet NaN there, or 0 if it is of whole numbers, and neither `owned` nor `halo` has them. An analysis that
/// cannot do without them throws.
struct Decomposition {
  enum class Kind : std::int32_t {
    published = 0,  ///< the blocks, wherever they are
    slabs = 1,      ///< cut across `axis`: each server has the whole of the other axes
    pencils = 2,    ///< cut across the other axes: each server has whole lines along `axis`
    bricks = 3,     ///< cut across all axes, as near to cubes as the number of servers allows
  };
  Kind kind = Kind::published;
  std::int32_t axis = 0;  ///< 0, 1 or 2, one that the mesh uses; bricks have none

  [[nodiscard]] static constexpr Decomposition slabs(int axis) noexcept { return {Kind::slabs, axis}; }
  [[nodiscard]] static constexpr Decomposition pencils(int axis) noexcept { return {Kind::pencils, axis}; }
  [[nodiscard]] static constexpr Decomposition bricks() noexcept { return {Kind::bricks, 0}; }
  [[nodiscard]] constexpr bool is_published() const noexcept { return kind == Kind::published; }
  constexpr bool operator==(const Decomposition&) const noexcept = default;
};

/// The cells that `server` of `servers` gets, empty if there are none for it; not of `published`. An axis that is cut
/// into p parts gives each of them the same number of cells, the first ones one more where it does not come out even.
/// Servers are counted with the parts along i fastest. Of all cuts it is the one with the smallest largest piece; then
/// the one that leaves the fewest servers without a piece; then that of the least surface; then that with the fewest
/// parts along i, then along j.
[[nodiscard]] Box piece_of(const Decomposition& decomposition, const Mesh& mesh, int servers, int server);

}  // namespace sidestream
