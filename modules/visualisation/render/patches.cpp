// The section of a box with a plane: the corners on the plane and the points in which edges cross it, ordered by the
// angle around their mean. It is convex, and so this order is its outline.
#include "visualisation/render/patches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "sidestream/data/catalogue.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"
#include "visualisation/extract/plane_options.hpp"
#include "visualisation/mesh/known_nodes.hpp"

namespace sidestream::rendering {
namespace {

std::int32_t read_mesh(const Settings& settings, const Metadata& metadata, const PatchesQuery&) {
  const Mesh& mesh = *metadata.find_mesh(settings.text("mesh"));
  if (mesh.axes() == nullptr || mesh.dimensions < 2) {
    settings.fail("mesh", fmt::format("mesh '{}' is {}{}, whose blocks have no outlines; expected a uniform or "
                                      "rectilinear mesh of two or three dimensions",
                                      mesh.name, mesh.geometry ? mesh.geometry->kind() : "none",
                                      mesh.dimensions < 2 ? " and has one dimension" : ""));
  }
  require_known_nodes(settings, "mesh", mesh);
  return mesh.id;
}

std::optional<Plane> read_section(const Settings& settings, const Metadata& metadata, const PatchesQuery& query) {
  const PlaneOptions written = plane_options().read(settings, metadata);
  const bool given = std::ranges::any_of(plane_options().declarations(),
                                         [&](const Option& option) { return settings.given(option.name); });
  if (!given) return std::nullopt;
  const Mesh& mesh = metadata.meshes.at(static_cast<std::size_t>(query.mesh));
  if (mesh.dimensions < 3) {
    settings.fail("mesh",
                  fmt::format("mesh '{}' has two dimensions, and is a plane itself; remove the plane", mesh.name));
  }
  return read_plane(settings, written, mesh);
}

/// Adds a closed outline.
void add_outline(Piece& piece, std::span<const Vec3> corners) {
  const auto first = static_cast<std::int64_t>(piece.points.size());
  const auto count = static_cast<std::int64_t>(corners.size());
  for (const Vec3& corner : corners) piece.points.push_back(corner);
  for (std::int64_t n = 0; n < count; ++n) piece.lines.push_back({first + n, first + (n + 1) % count});
}

/// Corner `n` of a box: its bit for each axis chooses the upper end.
Vec3 corner_of(const Vec3& low, const Vec3& high, std::size_t n) {
  Vec3 corner = low;
  for (std::size_t a = 0; a < 3; ++a) corner[a] = (n >> a & 1) != 0 ? high[a] : low[a];
  return corner;
}

void add_faces(Piece& piece, const Vec3& low, const Vec3& high, int dimensions) {
  for (std::size_t axis = dimensions == 3 ? 0 : 2; axis < 3; ++axis) {
    const std::size_t u = std::size_t{1} << ((axis + 1) % 3), v = std::size_t{1} << ((axis + 2) % 3);
    for (const std::size_t side : {std::size_t{0}, std::size_t{1} << axis}) {
      if (side != 0 && dimensions < 3) continue;
      const Vec3 corners[] = {corner_of(low, high, side), corner_of(low, high, side | u),
                              corner_of(low, high, side | u | v), corner_of(low, high, side | v)};
      add_outline(piece, corners);
    }
  }
}

void add_section(Piece& piece, const Vec3& low, const Vec3& high, const Plane& plane) {
  std::array<double, 8> distance{};
  std::vector<Vec3> found;
  for (std::size_t n = 0; n < 8; ++n) {
    const Vec3 corner = corner_of(low, high, n);
    distance[n] = dot(plane.normal, subtract(corner, plane.origin));
    if (distance[n] == 0) found.push_back(corner);
  }
  for (std::size_t n = 0; n < 8; ++n) {
    for (std::size_t a = 0; a < 3; ++a) {
      const std::size_t other = n | std::size_t{1} << a;
      if (other == n || !(distance[n] * distance[other] < 0)) continue;
      const double part = distance[n] / (distance[n] - distance[other]);
      const Vec3 from = corner_of(low, high, n);
      found.push_back(add(from, scale(subtract(corner_of(low, high, other), from), part)));
    }
  }
  if (found.size() < 2) return;
  Vec3 middle{0, 0, 0};
  for (const Vec3& one : found) middle = add(middle, scale(one, 1.0 / static_cast<double>(found.size())));
  const Vec3 u = unit(subtract(found.front(), middle)), v = cross(plane.normal, u);
  const auto angle = [&](const Vec3& place) {
    const Vec3 away = subtract(place, middle);
    return std::atan2(dot(away, v), dot(away, u));
  };
  std::ranges::sort(found, {}, angle);
  add_outline(piece, found);
}

}  // namespace

OptionTable<PatchesQuery> patches_options() {
  using Query = PatchesQuery;
  return OptionTable<Query>{
      options_read_by(read_mesh,
                      {{.name = "mesh",
                        .type = OptionType::mesh,
                        .required = true,
                        .text = "The mesh whose blocks are outlined: uniform or rectilinear."}},
                      &Query::mesh),
      option("levels", &Query::levels, "The refinement levels whose blocks are outlined. Default: all.",
             {.minimum = 0, .maximum = 30}),
      options_read_by(read_section, plane_options().declarations(), &Query::plane)};
}

Selection selection_of(const PatchesQuery&, const Metadata&) {
  Selection selection;
  selection.catalogue = true;
  return selection;
}

std::vector<Piece> extract(const PatchesQuery& query, const LocalInput& input) {
  std::vector<Piece> pieces(1);
  if (input.catalogue == nullptr) return {};
  const Mesh& mesh = input.metadata.meshes.at(static_cast<std::size_t>(query.mesh));
  for (const Block& block : input.catalogue->blocks) {
    if (block.mesh != query.mesh || block.cells.empty()) continue;
    if (input.catalogue->global && block.id % input.servers != input.server) continue;
    const bool chosen = query.levels.empty() || std::ranges::find(query.levels, block.level) != query.levels.end();
    if (!chosen) continue;
    const LevelAxes axes(mesh, block.level);
    Vec3 low{}, high{};
    for (std::size_t a = 0; a < 3; ++a) {
      const int axis = static_cast<int>(a);
      low[a] = axes.node(axis, block.cells.lo[a]);
      high[a] = axis < mesh.dimensions ? axes.node(axis, block.cells.hi[a]) : low[a];
    }
    if (query.plane) {
      add_section(pieces.front(), low, high, *query.plane);
    } else {
      add_faces(pieces.front(), low, high, mesh.dimensions);
    }
  }
  return pieces;
}

}  // namespace sidestream::rendering
