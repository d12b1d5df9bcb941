#include "graphics/facets.hpp"

#include <cmath>

#include "mesh/vector.hpp"

namespace sidestream::rendering {

Piece facets(const Piece& piece) {
  Piece faceted;
  faceted.layer = piece.layer;
  faceted.data.resize(piece.data.size());
  for (const auto& triangle : piece.triangles) {
    const auto corner = [&](std::size_t v) { return piece.points[static_cast<std::size_t>(triangle[v])]; };
    const Vec3 normal = cross(subtract(corner(1), corner(0)), subtract(corner(2), corner(0)));
    const double size = length(normal);
    if (!(size > 0) || !std::isfinite(size)) continue;
    const auto first = static_cast<std::int64_t>(faceted.points.size());
    for (std::size_t v = 0; v < 3; ++v) {
      faceted.points.push_back(corner(v));
      faceted.normals.push_back(scale(normal, 1 / size));
      for (std::size_t a = 0; a < piece.data.size(); ++a) {
        faceted.data[a].push_back(piece.data[a][static_cast<std::size_t>(triangle[v])]);
      }
    }
    faceted.triangles.push_back({first, first + 1, first + 2});
  }
  return faceted;
}

}  // namespace sidestream::rendering
