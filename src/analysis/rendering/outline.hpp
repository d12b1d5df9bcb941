// The edges of the domain.
#pragma once

#include "analysis/rendering/camera.hpp"
#include "analysis/rendering/rasteriser.hpp"

namespace sidestream::rendering {

/// Draws the twelve edges of the domain as lines `width` samples wide, hidden where something is in front of
/// them.
void draw_outline(const Domain& domain, const Camera& camera, double width, Colour colour, Rasteriser& rasteriser);

}  // namespace sidestream::rendering
