// Edges of cells on a slice, as many as can be told apart.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "visualisation/contour/contour.hpp"
#include "visualisation/graphics/camera.hpp"

namespace sidestream::rendering {

/// The lines of a piece, which are closed outlines of cells one after the other, without those of cells whose picture
/// is narrower than `least` samples along the picture's rows or columns: so many lines would make a dark area, or
/// moiré. Each cell is judged by itself, so that the result does not depend on the division into blocks.
[[nodiscard]] std::vector<std::array<std::int64_t, 2>> distinct_edges(const Piece& piece, const Camera& camera,
                                                                      double least);

}  // namespace sidestream::rendering
