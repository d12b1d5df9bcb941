// Normals of surfaces for which only the triangles are known, not the gradient.
#pragma once

#include <span>
#include <vector>

#include "contour/contour.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Gives each point the mean normal of its triangles in all servers' pieces, weighted by their areas. Collective. The
/// vectors are added in a canonical order, so that the mean does not depend on how triangles are divided; where they
/// cancel the normal is along z. `shared` is an ascending list of names. A point may be in several pieces only if the
/// list has both parts of its key; additional names do no harm.
void add_facet_normals(std::vector<Piece>& pieces, std::span<const std::int64_t> shared, Communicator& servers);

}  // namespace sidestream
