// Normals of surfaces whose triangles are all that is known of the slope.
#pragma once

#include <span>
#include <vector>

#include "contour/contour.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Collective: gives each point the mean of the normals of its triangles in all servers' pieces, weighted by their
/// areas and added up in an order of their own, so that the mean does not depend on how triangles are divided; along z
/// where they cancel. `shared`: ascending, names such that points both parts of whose keys are among them, and no
/// others, may be in several pieces; more do no harm.
void add_facet_normals(std::vector<Piece>& pieces, std::span<const std::int64_t> shared, Communicator& servers);

}  // namespace sidestream
