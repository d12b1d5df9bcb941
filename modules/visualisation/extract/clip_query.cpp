// Clips: the part of a mesh within planes, a box (six planes) or a sphere, or outside of it.
//
// selection_of asks for blocks whose bounds may meet the part; rounding never excludes one. parts_of cuts each cell
// that counts (Cutter), or keeps it whole. For pictures, cells of other blocks are cut as well, so that no faces
// between blocks are drawn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "sidestream/kit/analysis/common_options.hpp"
#include "visualisation/extract/part_query.hpp"
#include "visualisation/extract/plane_options.hpp"

namespace sidestream {
namespace {

/// A clip as it is written.
struct ClipOptions {
  PlaneOptions plane{};
  bool below = false, outside = false, whole_cells = false;
  std::vector<double> low{}, high{}, centre{};
  std::optional<double> radius{};
};

/// Checks a corner, which has a number for each axis of the mesh; further numbers are ignored.
void check_corner(const Settings& settings, const char* name, const std::vector<double>& corner, const Mesh& mesh) {
  if (corner.empty()) settings.fail(name, "a box needs both of its corners, `low` and `high`; add this one");
  if (corner.size() < static_cast<std::size_t>(mesh.dimensions)) {
    settings.fail(name, fmt::format("found {} numbers, expected {}, as many as mesh '{}' has dimensions", corner.size(),
                                    mesh.dimensions, mesh.name));
  }
  for (const double x : corner) {
    if (std::isnan(x)) settings.fail(name, "found a number that is none (nan); write where the corner is");
  }
}

/// Planes of a box's faces, with normals pointing inwards; none for infinite ends.
std::vector<Plane> read_box(const Settings& settings, const ClipOptions& options, const Mesh& mesh) {
  for (const char* other : {"axis", "position", "normal", "origin", "side"}) {
    if (settings.given(other)) {
      settings.fail(other,
                    fmt::format("`{}` describes a plane, but `low` and `high` a box; leave out one of both", other));
    }
  }
  const std::vector<double>&low = options.low, &high = options.high;
  check_corner(settings, "low", low, mesh);
  check_corner(settings, "high", high, mesh);
  std::vector<Plane> planes;
  for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
    if (!(low[a] < high[a])) {
      settings.fail("high", fmt::format("the box reaches from {} to {} on axis {}; write the lower corner as `low`",
                                        low[a], high[a], "xyz"[a]));
    }
    for (const auto& [end, direction] : {std::pair{low[a], 1.0}, {high[a], -1.0}}) {
      if (!std::isfinite(end)) continue;
      Plane plane{{0, 0, 0}, {0, 0, 0}};
      plane.origin[a] = end;
      plane.normal[a] = direction;
      planes.push_back(plane);
    }
  }
  return planes;
}

/// The sphere that is written instead of a plane or a box.
Sphere read_sphere(const Settings& settings, const ClipOptions& options, const Mesh& mesh) {
  for (const char* other : {"axis", "position", "normal", "origin", "side", "low", "high"}) {
    if (!settings.given(other)) continue;
    settings.fail(other,
                  fmt::format("found `{}` beside `centre` or `radius`, which describe a sphere; leave out one of "
                              "both",
                              other));
  }
  const std::vector<double>& centre = options.centre;
  if (centre.empty() || !options.radius) {
    settings.fail(centre.empty() ? "centre" : "radius", "a sphere needs its `centre` and its `radius`; add this one");
  }
  if (centre.size() != static_cast<std::size_t>(mesh.dimensions)) {
    settings.fail("centre", fmt::format("found {} numbers, expected {}, as many as mesh '{}' has dimensions; change it",
                                        centre.size(), mesh.dimensions, mesh.name));
  }
  Sphere sphere{{}, *options.radius, static_cast<std::size_t>(mesh.dimensions)};
  for (std::size_t a = 0; a < centre.size(); ++a) {
    if (!std::isfinite(centre[a])) settings.fail("centre", fmt::format("found {}; write finite numbers", centre[a]));
    sphere.centre[a] = centre[a];
  }
  if (!std::isfinite(sphere.radius) || !(sphere.radius > 0)) {
    settings.fail("radius", fmt::format("found {}, expected a finite number above 0; change it", sphere.radius));
  }
  return sphere;
}

/// True if part of a box may be in the sphere, or, with `outside`, out of it. Unknown bounds are infinite or NaN.
bool may_have(const Sphere& sphere, bool outside, const std::array<double, 3>& low, const std::array<double, 3>& high) {
  double nearest = 0, farthest = 0;
  for (std::size_t a = 0; a < sphere.dimensions; ++a) {
    const double below = low[a] - sphere.centre[a], above = sphere.centre[a] - high[a];
    nearest += below > 0 ? below * below : above > 0 ? above * above : 0;
    farthest += std::max(below * below, above * above);
  }
  const double square = sphere.radius * sphere.radius, slack = 1e-9;
  return outside ? !(farthest * (1 + slack) < square) : !(nearest * (1 - slack) > square);
}

/// True if part of a box may be within all of the planes, or, with `outside`, beyond one of them.
bool may_have(const ClipRegion& region, const std::array<double, 3>& low, const std::array<double, 3>& high) {
  if (region.sphere) return may_have(*region.sphere, region.outside, low, high);
  bool beyond = false;
  for (const Plane& plane : region.planes) {
    double least = 0, most = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      if (plane.normal[a] == 0) continue;
      const double p = plane.normal[a] * (low[a] - plane.origin[a]), q = plane.normal[a] * (high[a] - plane.origin[a]);
      least += std::min(p, q);
      most += std::max(p, q);
    }
    // Unknown bounds are infinite or NaN; rounding must not exclude a block.
    const double slack = 1e-9 * (std::fabs(least) + std::fabs(most));
    if (!region.outside && most + slack < 0) return false;
    beyond |= !(least - slack >= 0);
  }
  return !region.outside || beyond;
}

/// The options of a clip; read_part reads the options of any part of a mesh.
OptionTable<ClipOptions> clip_table(Purpose purpose) {
  using Options = ClipOptions;
  OptionTable<Options> table{
      options_read_elsewhere<Options>(
          {variable_option("The variable whose mesh is clipped; it is part of the result.")}),
      options_of(&Options::plane, plane_options()),
      option<OptionType::choice>(
          "side", &Options::below,
          "The side of the plane to keep: `above`, in the direction of the axis or the normal, or `below`.",
          {.standard = "above", .choices = {{"above", false}, {"below", true}}}),
      place_option("low", &Options::low, "Instead of a plane: the lower corner of an axis-aligned box.", false),
      place_option("high", &Options::high, "With `low`: the upper corner of the box.", false),
      place_option("centre", &Options::centre, "Instead of a plane: the centre of a sphere, or of a circle.", false),
      option("radius", &Options::radius, "With `centre`: the sphere's radius.", {.range_text = "above 0"}),
      option<OptionType::choice>("keep", &Options::outside, "With a box or a sphere: the part to keep.",
                                 {.standard = "inside", .choices = {{"inside", false}, {"outside", true}}}),
      option("whole_cells", &Options::whole_cells, "Keeps cut cells whole (\"crinkle clip\").", {.standard = false}),
      options_read_elsewhere<Options>(choice_options())};
  if (purpose == Purpose::surface) table.add(options_read_elsewhere<Options>({part_fields_option()}));
  return table;
}

}  // namespace

std::vector<Option> clip_options(Purpose purpose) { return clip_table(purpose).declarations(); }

ClipQuery read_clip(const Settings& settings, const Metadata& metadata, Purpose purpose) {
  ClipQuery query{read_part(settings, metadata, "a clip", purpose), {}};
  const ClipOptions options = clip_table(purpose).read(settings);
  const Mesh& mesh = metadata.mesh_of(metadata.variables.at(static_cast<std::size_t>(query.variables.front())));
  query.region.outside = options.outside;
  query.region.crinkle = options.whole_cells;
  if (!options.centre.empty() || options.radius) {
    query.region.sphere = read_sphere(settings, options, mesh);
    return query;
  }
  if (!options.low.empty() || !options.high.empty()) {
    query.region.planes = read_box(settings, options, mesh);
    return query;
  }
  if (settings.given("keep")) {
    settings.fail("keep", "`keep` goes with a box, `low` and `high`, or a sphere; of a plane write the `side` to keep");
  }
  if (!options.plane.axis && !options.plane.normal) {
    settings.fail("axis",
                  "what to clip with is missing; give `axis` and `position`, `normal` and `origin`, the corners of a "
                  "box, `low` and `high`, or the `centre` and `radius` of a sphere");
  }
  Plane plane = read_plane(settings, options.plane, mesh);
  if (options.below) {
    for (double& n : plane.normal) n = -n;
  }
  query.region.planes = {plane};
  return query;
}

std::string why_empty(const ClipQuery& query, const CombineInput& input) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variables.front()));
  const Mesh& mesh = input.metadata.mesh_of(variable);
  return fmt::format("nothing of the mesh '{}' is in the part that is kept; {}", mesh.name, reach_text(mesh, input));
}

Selection selection_of(const ClipQuery& query, const Metadata& metadata) {
  const auto needed = [region = query.region, choice = query.choice](const BlockSummary& block) {
    return may_have_some(choice, block) && may_have(region, block.low, block.high);
  };
  return selection_of_part(query, metadata, BlockPredicate{needed, {}});
}

std::vector<BlockPart> parts_of(const ClipQuery& query, const LocalInput& input) {
  const Variable& variable = input.metadata.variables.at(static_cast<std::size_t>(query.variables.front()));
  std::vector<BlockPart> parts;
  for (const BlockView& view : input.of(variable.id)) {
    const auto cells = cells_of_block(input, variable, view, query.neighbours);
    if (!cells) continue;
    const std::vector<BlockNumbers> fields = fields_of(query, input.metadata, *cells);
    PieceBuilder own(*cells, fields), around(*cells, fields);
    Cutter cutter(*cells, fields, query.region, own), cutter_around(*cells, fields, query.region, around);
    BlockCell cell;
    for (std::size_t n = 0; n < cells->cells(); ++n) {
      const Standing standing = cells->standing(n);
      if (standing == Standing::absent) continue;
      cells->load(n, cell);
      if (!is_chosen(query.choice, *cells, n, cell)) continue;
      (standing == Standing::own ? cutter : cutter_around).take(n, cell);
    }
    parts.push_back({std::move(own.piece()), std::move(around.piece())});
  }
  return parts;
}

}  // namespace sidestream
