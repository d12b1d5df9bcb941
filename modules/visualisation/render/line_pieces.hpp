// Stream lines as pieces of an image.
#pragma once

#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "visualisation/contour/contour.hpp"
#include "visualisation/lines/lines.hpp"

namespace sidestream::rendering {

/// Collective: traces lines, which rank 0 gets as a piece with all their values; elsewhere there is none. Throws
/// Error(configuration) on all servers alike where blocks are not on the servers that combine.
[[nodiscard]] std::vector<Piece> pieces_of_lines(const streamlines::Query& query, const CombineInput& input);

}  // namespace sidestream::rendering
