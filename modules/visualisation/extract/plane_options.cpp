#include "visualisation/extract/plane_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sidestream {
namespace {

/// True if the mesh's position is known from its declaration.
bool is_placed(const Mesh& mesh) { return mesh.axes() != nullptr || mesh.kind() == MeshKind::octree; }

/// First and last node of the mesh along an axis, in ascending order of position; equal along axes without extent.
std::array<double, 2> ends(const Mesh& mesh, int axis) {
  if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    const auto n = static_cast<std::size_t>(axis);
    if (axis >= mesh.dimensions) return {0, 0};
    const double a = tree->origin()[n], b = a + tree->spacing()[n] * static_cast<double>(tree->roots()[n]);
    return {std::min(a, b), std::max(a, b)};
  }
  const Axes& axes = *mesh.geometry->axes();
  const double a = axes.node(axis, mesh.cells.lo[axis]);
  if (axis >= mesh.dimensions) return {a, a};
  const double b = axes.node(axis, mesh.cells.hi[axis]);
  return {std::min(a, b), std::max(a, b)};
}

std::array<double, 3> centre(const Mesh& mesh) {
  std::array<double, 3> middle;
  for (int a = 0; a < 3; ++a) {
    const auto [low, high] = ends(mesh, a);
    middle[a] = 0.5 * (low + high);
  }
  return middle;
}

/// Moves a plane within a rounding error of a face of the mesh onto the face.
void snap_to_face(Plane& plane, int axis, const Mesh& mesh) {
  const auto [low, high] = ends(mesh, axis);
  const double near = 1e-9 * (high - low);
  for (const double face : {low, high}) {
    if (std::fabs(plane.origin[axis] - face) <= near) plane.origin[axis] = face;
  }
}

void require_inside(const Settings& settings, const char* option, const Plane& plane, const Mesh& mesh) {
  double low = 0, high = 0;  // range of distances over the mesh
  for (int a = 0; a < 3; ++a) {
    const auto [first, last] = ends(mesh, a);
    const double p = plane.normal[a] * (first - plane.origin[a]), q = plane.normal[a] * (last - plane.origin[a]);
    low += std::min(p, q);
    high += std::max(p, q);
  }
  if (low <= 0 && high >= 0) return;
  const auto [x0, x1] = ends(mesh, 0);
  const auto [y0, y1] = ends(mesh, 1);
  const auto [z0, z1] = ends(mesh, 2);
  settings.fail(option,
                fmt::format("the plane through ({}, {}, {}) does not meet mesh '{}', which spans x {} to {}, y {} "
                            "to {} and z {} to {}; move it there",
                            plane.origin[0], plane.origin[1], plane.origin[2], mesh.name, x0, x1, y0, y1, z0, z1));
}

/// Fails: the middle of meshes that publish their coordinates is unknown when the plane is read.
[[noreturn]] void require_where(const Settings& settings, const char* option, const Mesh& mesh) {
  settings.fail(option,
                fmt::format("mesh '{}' is {}, and where its middle is, only its coordinates say; write where the "
                            "plane is, as `{}`",
                            mesh.name, mesh.geometry->kind(), option));
}

Plane read_axis_plane(const Settings& settings, const PlaneOptions& options, const Mesh& mesh) {
  for (const char* other : {"origin", "normal"}) {
    if (settings.given(other)) {
      settings.fail(other, fmt::format("`{}` does not go with `axis`; give `axis` and `position`, or `normal` and "
                                       "`origin`",
                                       other));
    }
  }
  const int axis = *options.axis;
  if (!is_placed(mesh) && !options.position && axis < mesh.dimensions) require_where(settings, "position", mesh);
  Plane plane{is_placed(mesh) ? centre(mesh) : std::array<double, 3>{0, 0, 0}, {0, 0, 0}};
  plane.normal[axis] = 1;
  plane.origin[axis] = options.position.value_or(plane.origin[axis]);
  return plane;
}

Plane read_normal_plane(const Settings& settings, const PlaneOptions& options, const Mesh& mesh) {
  if (options.position) {
    settings.fail("position", "`position` needs `axis: x`, `y` or `z`; with `normal` give `origin` instead");
  }
  if (!options.normal) {
    settings.fail("axis", "the plane's direction is missing; give `axis: x`, `y` or `z`, or `normal: [x, y, z]`");
  }
  if (!is_placed(mesh) && !options.origin) require_where(settings, "origin", mesh);
  Plane plane{options.origin ? *options.origin : centre(mesh), *options.normal};
  double length = 0;
  for (const double n : plane.normal) length = std::hypot(length, n);
  if (!(length > 0) || !std::isfinite(length)) {
    settings.fail("normal", "the normal has no direction; expected three finite numbers that are not all 0");
  }
  for (double& n : plane.normal) n /= length;
  return plane;
}

}  // namespace

int axis_along(const std::array<double, 3>& normal) {
  int axis = -1;
  for (int a = 0; a < 3; ++a) {
    if (normal[a] == 0) continue;
    if (axis >= 0) return -1;
    axis = a;
  }
  return axis;
}

const OptionTable<PlaneOptions>& plane_options() {
  static const OptionTable<PlaneOptions> table{
      option<OptionType::choice>("axis", &PlaneOptions::axis, "The axis perpendicular to the plane.",
                                 {.choices = {{"x", 0}, {"y", 1}, {"z", 2}}}),
      option("position", &PlaneOptions::position,
             "The position of the plane on that axis. Default: the middle of the mesh, if it is known."),
      option("normal", &PlaneOptions::normal, "Instead of `axis`: the plane's normal, of any length."),
      option("origin", &PlaneOptions::origin,
             "With `normal`: a point of the plane. Default: the middle of the mesh, if it is known.")};
  return table;
}

Plane read_plane(const Settings& settings, const PlaneOptions& options, const Mesh& mesh) {
  Plane plane = options.axis ? read_axis_plane(settings, options, mesh) : read_normal_plane(settings, options, mesh);
  if (!is_placed(mesh)) return plane;
  if (const int axis = axis_along(plane.normal); axis >= 0) snap_to_face(plane, axis, mesh);
  require_inside(settings, options.axis ? "position" : "origin", plane, mesh);
  return plane;
}

}  // namespace sidestream
