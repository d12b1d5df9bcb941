#include "visualisation/extract/plane_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sidestream {
namespace {

const char* const axis_names[3] = {"x", "y", "z"};

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

Plane read_axis_plane(const Settings& settings, const Mesh& mesh) {
  for (const char* other : {"origin", "normal"}) {
    if (settings.given(other)) {
      settings.fail(other, fmt::format("`{}` does not go with `axis`; give `axis` and `position`, or `normal` and "
                                       "`origin`",
                                       other));
    }
  }
  const std::string& name = settings.text("axis");
  const int axis = name == "x" ? 0 : name == "y" ? 1 : 2;
  if (!is_placed(mesh) && !settings.has("position") && axis < mesh.dimensions)
    require_where(settings, "position", mesh);
  Plane plane{is_placed(mesh) ? centre(mesh) : std::array<double, 3>{0, 0, 0}, {0, 0, 0}};
  plane.normal[axis] = 1;
  if (settings.has("position")) plane.origin[axis] = settings.real("position");
  return plane;
}

Plane read_normal_plane(const Settings& settings, const Mesh& mesh) {
  if (settings.given("position")) {
    settings.fail("position", "`position` needs `axis: x`, `y` or `z`; with `normal` give `origin` instead");
  }
  const std::vector<double> normal = settings.reals("normal"), origin = settings.reals("origin");
  if (normal.empty()) {
    settings.fail("axis", "the plane's direction is missing; give `axis: x`, `y` or `z`, or `normal: [x, y, z]`");
  }
  if (!is_placed(mesh) && origin.empty()) require_where(settings, "origin", mesh);
  Plane plane{is_placed(mesh) ? centre(mesh) : std::array<double, 3>{0, 0, 0}, {}};
  double length = 0;
  for (std::size_t a = 0; a < 3 && a < normal.size(); ++a) {
    plane.normal[a] = normal[a];
    length = std::hypot(length, normal[a]);
  }
  if (!(length > 0) || !std::isfinite(length)) {
    settings.fail("normal", "the normal has no direction; expected three finite numbers that are not all 0");
  }
  for (double& n : plane.normal) n /= length;
  if (!origin.empty()) std::copy_n(origin.begin(), std::min<std::size_t>(3, origin.size()), plane.origin.begin());
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

std::vector<Option> plane_options() {
  const auto triple = [](const char* name, const char* text) {
    Option option{.name = name, .type = OptionType::real, .list = true, .text = text};
    option.least_entries = option.most_entries = 3;
    return option;
  };
  return {{.name = "axis",
           .type = OptionType::choice,
           .text = "The axis perpendicular to the plane.",
           .choices = {axis_names[0], axis_names[1], axis_names[2]}},
          {.name = "position",
           .type = OptionType::real,
           .text = "The position of the plane on that axis. Default: the middle of the mesh, if it is known."},
          triple("normal", "Instead of `axis`: the plane's normal, of any length."),
          triple("origin", "With `normal`: a point of the plane. Default: the middle of the mesh, if it is known.")};
}

Plane read_plane(const Settings& settings, const Mesh& mesh) {
  const bool by_axis = settings.has("axis");
  Plane plane = by_axis ? read_axis_plane(settings, mesh) : read_normal_plane(settings, mesh);
  if (!is_placed(mesh)) return plane;
  if (const int axis = axis_along(plane.normal); axis >= 0) snap_to_face(plane, axis, mesh);
  require_inside(settings, by_axis ? "position" : "origin", plane, mesh);
  return plane;
}

}  // namespace sidestream
