// Clipping of cells by planes, or by a sphere, which is treated as a bent plane. A cell that some plane crosses is
// split into simplices; each plane in turn cuts them, and wedges and pyramids that remain are split again before the
// next plane. For the outside of a region, the part beyond each plane is taken from the rest that earlier planes have
// left, so that parts are disjoint. Points on edges are computed from the end of lower key and found again by their
// key.
#include "visualisation/contour/cuts/cutter.hpp"

#include <algorithm>
#include <cmath>

#include "sidestream/kit/base/hash.hpp"
#include "visualisation/contour/marching_cubes_cell.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"

namespace sidestream {
namespace {

std::int64_t hash_of(const PointKey& p, const PointKey& q, std::size_t plane, std::uint64_t seed) {
  std::uint64_t hash = mixed_bits(seed ^ plane);
  for (const std::int64_t part : {p.kind, p.a, p.b, q.kind, q.a, q.b}) {
    hash = mixed_bits(hash ^ static_cast<std::uint64_t>(part));
  }
  return static_cast<std::int64_t>(hash);
}

/// The key of a cut point: made of the edge, or, if an end was itself made by a cut, a hash of 128 bits.
PointKey key_between(const PointKey& p, const PointKey& q, std::size_t plane) {
  if (p.kind == PointKey::of_mesh && q.kind == PointKey::of_mesh) {
    return {PointKey::first_plane + static_cast<std::int64_t>(plane), p.a, q.a};
  }
  return {PointKey::several_planes, hash_of(p, q, plane, 1), hash_of(p, q, plane, 2)};
}

double signed_distance(const Plane& plane, const std::array<double, 3>& x) {
  double sum = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (plane.normal[a] != 0) sum += plane.normal[a] * (x[a] - plane.origin[a]);
  }
  return sum;
}

/// Distance from the surface of a sphere, positive inside.
double depth_in(const Sphere& sphere, const std::array<double, 3>& x) {
  double square = 0;
  for (std::size_t a = 0; a < sphere.dimensions; ++a) {
    square += (x[a] - sphere.centre[a]) * (x[a] - sphere.centre[a]);
  }
  return sphere.radius - std::sqrt(square);
}

/// Solves |a + t (b - a)| = radius, relative to the centre, for the one solution between 0 and 1.
double crossing_of(const Sphere& sphere, const std::array<double, 3>& a, const std::array<double, 3>& b) {
  double edge = 0, along = 0, square = -sphere.radius * sphere.radius;
  for (std::size_t n = 0; n < sphere.dimensions; ++n) {
    const double from = a[n] - sphere.centre[n], way = b[n] - a[n];
    edge += way * way;
    along += from * way;
    square += from * from;
  }
  const double root = std::sqrt(std::max(0.0, along * along - edge * square));
  const double t = (square < 0 ? root - along : -root - along) / edge;
  return std::clamp(t, 0.0, 1.0);
}

}  // namespace

double ClipRegion::distance(std::size_t border, const std::array<double, 3>& x) const {
  return sphere ? depth_in(*sphere, x) : signed_distance(planes[border], x);
}

double ClipRegion::crossing(std::size_t border, const std::array<double, 3>& a, const std::array<double, 3>& b) const {
  if (sphere) return crossing_of(*sphere, a, b);
  return sidestream::crossing(signed_distance(planes[border], a), signed_distance(planes[border], b), 0);
}

Cutter::Cutter(const BlockCells& cells, const std::vector<BlockNumbers>& fields, const ClipRegion& region,
               PieceBuilder& builder)
    : cells_(cells), fields_(fields), region_(region), builder_(builder) {}

double Cutter::distance(std::size_t point, std::size_t plane) const {
  return region_.distance(plane, points_[point].place);
}

std::size_t Cutter::point_of_block(std::size_t p) {
  const auto [at, fresh] = of_block_.try_emplace(p, points_.size());
  if (!fresh) return at->second;
  Point point{cells_.place(p), cells_.key(p), {}, p, -1};
  for (const BlockNumbers& field : fields_) {
    if (field.at_points) point.values.push_back(field.at(p));
  }
  points_.push_back(std::move(point));
  return at->second;
}

/// The cut point, computed from the end of the lower key, so that all cells around the edge get the same bits.
std::size_t Cutter::between(std::size_t p, std::size_t q, std::size_t plane) {
  if (key(q) < key(p)) std::swap(p, q);
  const auto [at, fresh] = made_.try_emplace(key_between(key(p), key(q), plane), points_.size());
  if (!fresh) return at->second;
  const Point &a = points_[p], &b = points_[q];
  const double t = region_.crossing(plane, a.place, b.place);
  Point point{mix(a.place, b.place, t), at->first, {}, made, -1};
  for (std::size_t v = 0; v < a.values.size(); ++v) point.values.push_back(mix(a.values[v], b.values[v], t));
  points_.push_back(std::move(point));
  return at->second;
}

std::size_t Cutter::least(std::span<const std::size_t> points) const {
  return *std::min_element(points.begin(), points.end(), [&](std::size_t p, std::size_t q) { return key(p) < key(q); });
}

void Cutter::split_loop(std::span<const std::size_t> loop, Shapes& simplices) const {
  const auto first = static_cast<std::size_t>(std::find(loop.begin(), loop.end(), least(loop)) - loop.begin());
  const auto at = [&](std::size_t n) { return loop[(first + n) % loop.size()]; };
  for (std::size_t n = 1; n + 1 < loop.size(); ++n) {
    if (at(n) == at(0) || at(n + 1) == at(0) || at(n) == at(n + 1)) continue;  // a degenerate cell
    simplices.push_back({vtk_triangle, {at(0), at(n), at(n + 1)}});
  }
}

void Cutter::split_solid(const std::vector<std::vector<std::size_t>>& faces, Shapes& simplices) const {
  std::vector<std::size_t> all;
  for (const auto& face : faces) all.insert(all.end(), face.begin(), face.end());
  const std::size_t top = least(all);
  Shapes triangles;
  for (const auto& face : faces) {
    if (std::find(face.begin(), face.end(), top) == face.end()) split_loop(face, triangles);
  }
  for (const Shape& triangle : triangles) {
    Shape tetrahedron{vtk_tetra, triangle.points};
    tetrahedron.points.push_back(top);
    turn_right(tetrahedron);
    simplices.push_back(std::move(tetrahedron));
  }
}

void Cutter::split(const Shape& shape, Shapes& simplices) const {
  if (shape.type == vtk_quad) return split_loop(shape.points, simplices);
  if (shape.type != vtk_wedge && shape.type != vtk_pyramid) return simplices.push_back(shape);
  std::vector<std::vector<std::size_t>> faces;
  for (const auto& face : shape_of(shape.type)->body.faces()) {
    for (std::vector<std::size_t>& loop = faces.emplace_back(); const int corner : face) {
      loop.push_back(shape.points[static_cast<std::size_t>(corner)]);
    }
  }
  split_solid(faces, simplices);
}

void Cutter::split(const BlockCell& cell, Shapes& simplices) {
  std::vector<std::size_t> points;
  for (const std::size_t p : cell.points) points.push_back(point_of_block(p));
  if (cell.type == vtk_vertex || cell.type == vtk_polyvertex) {
    for (const std::size_t p : points) simplices.push_back({vtk_vertex, {p}});
  } else if (cell.type == vtk_line || cell.type == vtk_polyline) {
    for (std::size_t n = 1; n < points.size(); ++n) simplices.push_back({vtk_line, {points[n - 1], points[n]}});
  } else if (is_flat_cell(cell.type)) {
    if (cell.type == vtk_pixel) std::swap(points[2], points[3]);
    if (points.size() >= 3) split_loop(points, simplices);
  } else {
    std::vector<std::vector<std::size_t>> faces;
    if (cell.type == vtk_polyhedron) {
      for (const auto& face : cell.faces) {
        for (std::vector<std::size_t>& loop = faces.emplace_back(); const std::size_t p : face) {
          loop.push_back(point_of_block(p));
        }
      }
    } else {
      for (const auto& face : shape_of(cell.type)->body.faces()) {
        for (std::vector<std::size_t>& loop = faces.emplace_back(); const int corner : face) {
          loop.push_back(points[static_cast<std::size_t>(corner)]);
        }
      }
    }
    split_solid(faces, simplices);
  }
}

/// Orders the points for a positive volume in VTK; wedges are oriented as VTK's filters do.
void Cutter::turn_right(Shape& shape) const {
  std::vector<std::array<double, 3>> places;
  for (const std::size_t p : shape.points) places.push_back(points_[p].place);
  const double sense = orientation(shape.type, places);
  if (shape.type == vtk_tetra && sense < 0) std::swap(shape.points[1], shape.points[2]);
  if (shape.type == vtk_pyramid && sense < 0) std::swap(shape.points[1], shape.points[3]);
  if (shape.type == vtk_wedge && sense < 0) {
    std::swap_ranges(shape.points.begin(), shape.points.begin() + 3, shape.points.begin() + 3);
  }
}

void Cutter::cut_line(const Shape& line, std::span<const double> d, std::size_t plane, Shapes& kept) {
  const std::size_t cut = between(line.points[0], line.points[1], plane);
  kept.push_back(d[0] > 0 ? Shape{vtk_line, {line.points[0], cut}} : Shape{vtk_line, {cut, line.points[1]}});
}

void Cutter::cut_triangle(const Shape& triangle, std::span<const double> d, std::size_t plane, Shapes& kept) {
  Shape shape{vtk_triangle, {}};
  for (std::size_t n = 0; n < 3; ++n) {
    const std::size_t next = (n + 1) % 3;
    if (d[n] >= 0) shape.points.push_back(triangle.points[n]);
    if ((d[n] > 0 && d[next] < 0) || (d[n] < 0 && d[next] > 0)) {
      shape.points.push_back(between(triangle.points[n], triangle.points[next], plane));
    }
  }
  if (shape.points.size() == 4) shape.type = vtk_quad;
  kept.push_back(std::move(shape));
}

void Cutter::cut_tetrahedron(const Shape& tetrahedron, std::span<const double> d, std::size_t plane, Shapes& kept) {
  std::vector<std::size_t> in, on, out;
  for (std::size_t n = 0; n < 4; ++n) (d[n] > 0 ? in : d[n] < 0 ? out : on).push_back(tetrahedron.points[n]);
  const auto cut = [&](std::size_t p, std::size_t q) { return between(p, q, plane); };
  Shape shape{vtk_wedge, {}};
  if (in.size() == 1) {
    shape = {vtk_tetra, {in[0]}};
    for (const std::size_t p : out) shape.points.push_back(cut(in[0], p));
    shape.points.insert(shape.points.end(), on.begin(), on.end());
  } else if (in.size() == 3) {
    shape.points = {in[0], in[1], in[2], cut(in[0], out[0]), cut(in[1], out[0]), cut(in[2], out[0])};
  } else if (out.size() == 2) {
    shape.points = {in[0], cut(in[0], out[0]), cut(in[0], out[1]), in[1], cut(in[1], out[0]), cut(in[1], out[1])};
  } else {
    shape = {vtk_pyramid, {in[0], in[1], cut(in[1], out[0]), cut(in[0], out[0]), on[0]}};
  }
  turn_right(shape);
  kept.push_back(std::move(shape));
}

void Cutter::cut(const Shape& simplex, std::size_t plane, double sign, Shapes& kept) {
  std::array<double, 4> d{};
  bool any_in = false, any_out = false;
  for (std::size_t n = 0; n < simplex.points.size(); ++n) {
    d[n] = sign * distance(simplex.points[n], plane);
    any_in |= d[n] > 0;
    any_out |= d[n] < 0;
  }
  // Cells in the plane count on the positive side, except for solids, which then have no volume.
  if (!any_in && (any_out || sign < 0 || simplex.type == vtk_tetra)) return;
  if (!any_out) return kept.push_back(simplex);
  if (simplex.points.size() == 2) return cut_line(simplex, d, plane, kept);
  if (simplex.points.size() == 3) return cut_triangle(simplex, d, plane, kept);
  cut_tetrahedron(simplex, d, plane, kept);
}

Cutter::Shapes Cutter::inside(Shapes rest, std::span<const std::size_t> planes) {
  for (const std::size_t plane : planes) {
    Shapes simplices, kept;
    for (const Shape& shape : rest) split(shape, simplices);
    for (const Shape& simplex : simplices) cut(simplex, plane, 1, kept);
    rest = std::move(kept);
  }
  return rest;
}

/// The part beyond the first plane, then the part of the rest beyond the next one, and so on: disjoint.
Cutter::Shapes Cutter::outside(Shapes rest, std::span<const std::size_t> planes) {
  Shapes all;
  for (const std::size_t plane : planes) {
    Shapes simplices, within;
    for (const Shape& shape : rest) split(shape, simplices);
    for (const Shape& simplex : simplices) {
      cut(simplex, plane, -1, all);
      cut(simplex, plane, 1, within);
    }
    rest = std::move(within);
  }
  return all;
}

void Cutter::take(std::size_t number, const BlockCell& cell) {
  std::vector<std::size_t> crossed;  // planes with something on both sides
  for (std::size_t plane = 0; plane < region_.borders(); ++plane) {
    bool any_in = false, any_out = false;
    for (const std::size_t p : cell.points) {
      const double d = region_.distance(plane, cells_.place(p));
      any_in |= d > 0;
      any_out |= d < 0;
    }
    if (any_out && !any_in) {  // all of it is beyond
      if (region_.outside) builder_.add(number, cell);
      return;
    }
    if (any_out) crossed.push_back(plane);
  }
  if (crossed.empty()) {
    if (!region_.outside) builder_.add(number, cell);
    return;
  }
  Shapes shapes;
  split(cell, shapes);
  shapes = region_.outside ? outside(std::move(shapes), crossed) : inside(std::move(shapes), crossed);
  if (region_.crinkle) {
    if (!shapes.empty()) builder_.add(number, cell);
    return;
  }
  std::int64_t part = 0;
  std::vector<std::int64_t> points;
  for (const Shape& shape : shapes) {
    points.clear();
    for (const std::size_t p : shape.points) points.push_back(number_in_piece(p));
    builder_.add(number, part++, shape.type, points);
  }
}

std::int64_t Cutter::number_in_piece(std::size_t point) {
  Point& one = points_[point];
  if (one.of_block != made) return builder_.point(one.of_block);
  if (one.number < 0) one.number = builder_.point(one.place, one.key, one.values);
  return one.number;
}

}  // namespace sidestream
