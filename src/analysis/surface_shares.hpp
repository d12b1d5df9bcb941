// Surfaces that are too large for one server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/surface.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// Collective: deals out the triangles and lines of all servers' partials anew, so that server after server has about
/// as many, in the order in which one surface of them all has them (layer, cell). What `merge` makes of them has each
/// server's stretch of that surface; points at the seams are in both.
[[nodiscard]] std::vector<Piece> share_pieces(std::span<const Bytes> partials, Communicator& servers);

/// Where a surface goes, and how.
struct SurfaceFile {
  std::string name;
  Pieces pieces = Pieces::automatic;
  std::vector<AttributeLayout> layout{};
  bool normals = false;
};

/// Collective: makes the surface of all servers' partials in one file or in pieces. `finish` may change the pieces,
/// where they are, before they are merged.
void add_surface(const SurfaceFile& file, const CombineInput& input,
                 const std::function<void(std::vector<Piece>&)>& finish);

}  // namespace sidestream
