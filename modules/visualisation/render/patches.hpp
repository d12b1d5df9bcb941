// Outlines of blocks in an image: the patches of refinement levels, or the pieces of the simulation's ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/option_table.hpp"
#include "visualisation/contour/contour.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream::rendering {

/// Blocks of a mesh with axes, as boxes or as their sections with a plane.
struct PatchesQuery {
  std::int32_t mesh = -1;
  std::vector<std::int32_t> levels{};  ///< empty: all
  std::optional<Plane> plane{};
};

/// Options of the outlines, without colours. Reading throws Error(configuration).
[[nodiscard]] OptionTable<PatchesQuery> patches_options();

/// Selects the list of blocks and no values.
[[nodiscard]] Selection selection_of(const PatchesQuery& query, const Metadata& metadata);

/// One piece with the closed outlines of this server's share of the blocks: of the faces of each box, or of its section
/// with the plane. A plane that touches a box has the face or the edge that it touches.
[[nodiscard]] std::vector<Piece> extract(const PatchesQuery& query, const LocalInput& input);

}  // namespace sidestream::rendering
