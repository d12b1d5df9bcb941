#include "graphics/outline.hpp"

#include <vector>

namespace sidestream::rendering {
namespace {

/// Edges are divided: long thin triangles have large bounding boxes, in which the rasteriser visits every sample.
constexpr int parts_of_an_edge = 48;

/// Lines are drawn slightly nearer than they are, so that a slice that ends at a face does not hide its edges.
constexpr double lift = 2e-3;

struct Ribbon {
  std::vector<Vec3> points;
  std::vector<std::array<std::int64_t, 3>> corners;
};

/// Trims an edge to the part that is ahead of the camera; returns false if none is. Where the edge passes the camera
/// its width would be undefined.
bool trim(Vec3& a, Vec3& b, const Camera& camera) {
  if (camera.parallel()) return true;
  const double near = camera.near(), da = camera.see(a).ahead - near, db = camera.see(b).ahead - near;
  if (da <= 0 && db <= 0) return false;
  if (da < 0) a = add(a, scale(subtract(b, a), da / (da - db)));
  if (db < 0) b = add(b, scale(subtract(a, b), db / (db - da)));
  return true;
}

/// Adds an edge in `parts` pieces; with a parallel projection it is `nearer` by that distance.
void add_edge(Vec3 a, Vec3 b, int parts, double nearer, const Camera& camera, double width, Ribbon& ribbon) {
  if (!trim(a, b, camera)) return;
  for (int part = 0; part <= parts; ++part) {
    Vec3 p = add(a, scale(subtract(b, a), static_cast<double>(part) / parts));
    const Vec3 sight = camera.parallel() ? camera.forward() : subtract(p, camera.eye());
    const Vec3 aside = unit(cross(subtract(b, a), sight));
    p = subtract(p, scale(sight, camera.parallel() ? nearer : lift));
    const Vec3 half = scale(aside, 0.5 * width * camera.sample_size(camera.see(p).ahead));
    const auto first = static_cast<std::int64_t>(ribbon.points.size());
    ribbon.points.push_back(add(p, half));
    ribbon.points.push_back(subtract(p, half));
    if (part == parts) break;
    ribbon.corners.push_back({first, first + 1, first + 2});
    ribbon.corners.push_back({first + 2, first + 1, first + 3});
  }
}

}  // namespace

void draw_outline(const Domain& domain, const Camera& camera, double width, Colour colour, Rasteriser& rasteriser) {
  Ribbon ribbon;
  for (int corner = 0; corner < 8; ++corner) {
    for (int axis = 0; axis < 3; ++axis) {
      const int bit = 1 << axis;
      if (corner & bit || domain.low[axis] == domain.high[axis]) continue;
      const Vec3 a = domain.corner(corner), b = domain.corner(corner | bit);
      add_edge(a, b, parts_of_an_edge, lift * length(subtract(b, a)), camera, width, ribbon);
    }
  }
  Material material;
  material.colour = colour;
  rasteriser.draw({ribbon.points, ribbon.corners, {}, {}}, material);
}

void draw_lines(const Lines& lines, const Camera& camera, double width, const Material& material,
                Rasteriser& rasteriser) {
  for (const auto& [from, to] : lines.lines) {
    const Vec3 &a = lines.points[static_cast<std::size_t>(from)], &b = lines.points[static_cast<std::size_t>(to)];
    if (a == b) continue;
    Ribbon ribbon;
    add_edge(a, b, 1, camera.line_lift(), camera, width, ribbon);
    std::vector<double> values;
    if (!lines.values.empty() && ribbon.points.size() == 4) {
      const double first = lines.values[static_cast<std::size_t>(from)];
      const double last = lines.values[static_cast<std::size_t>(to)];
      values = {first, first, last, last};
    }
    rasteriser.draw({ribbon.points, ribbon.corners, {}, values}, material);
  }
}

}  // namespace sidestream::rendering
