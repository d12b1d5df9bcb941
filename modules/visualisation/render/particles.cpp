#include "visualisation/render/particles.hpp"

#include <cmath>

#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream::rendering {
namespace {

constexpr double default_pixels = 2;

/// Limits of radii, whose squares stay far from the limits of doubles. Other sizes can use other units of the
/// coordinates.
constexpr double least_radius = 1e-100, most_radius = 1e100;

bool finite(const std::array<double, 3>& x) {
  return std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2]);
}

Piece piece_of(const ParticlesQuery& query, const BlockView& places, const BlockView* values) {
  Piece piece;
  if (query.colour_by >= 0) piece.data.resize(1);
  for_each_counted(places, [&](Index i) {
    std::array<double, 3> x{};
    for (int c = 0; c < query.dimensions; ++c) x[static_cast<std::size_t>(c)] = real_at(places, i, c);
    if (!finite(x)) return;
    piece.points.push_back(x);
    if (query.colour_by < 0) return;
    piece.data[0].push_back(values ? real_at(*values, i, query.component) : std::nan(""));
  });
  return piece;
}

}  // namespace

std::vector<Option> particles_options() {
  return {
      {.name = "mesh", .type = OptionType::mesh, .required = true, .text = "The particles: a mesh of type `points`."},
      {.name = "radius",
       .type = OptionType::real,
       .text = "Radius of each particle in the units of the coordinates, instead of `pixels`.",
       .minimum = least_radius,
       .maximum = most_radius},
      {.name = "pixels",
       .type = OptionType::real,
       .text = "Radius of each particle in pixels, independent of its distance. Default: 2, if there is no `radius`.",
       .minimum = 0.01,
       .maximum = 1000},
      {.name = "shape",
       .type = OptionType::choice,
       .default_value = "sphere",
       .text = "`disc`: flat, facing the camera and unlit, with exactly the colours of the colour bar.",
       .choices = {"sphere", "disc"}},
  };
}

ParticlesQuery read_particles_query(const Settings& settings, const Metadata& metadata) {
  const Mesh& mesh = read_particles(settings, metadata);
  ParticlesQuery query;
  query.coordinates = mesh.array(Role::coordinates);
  query.dimensions = mesh.dimensions;
  query.disc = settings.text("shape") == "disc";
  if (settings.has("radius") && settings.has("pixels")) {
    settings.fail("pixels", "found both 'radius' and 'pixels' for the same particles; remove one of them");
  }
  if (settings.has("radius")) {
    query.radius = settings.real("radius");
  } else {
    query.pixels = settings.has("pixels") ? settings.real("pixels") : default_pixels;
  }
  return query;
}

Selection selection_of(const ParticlesQuery& query, const Metadata&) {
  Selection selection{{{query.coordinates, 0}}};
  if (query.colour_by >= 0) selection.variables.push_back({query.colour_by, 0});
  return selection;
}

std::vector<Piece> extract(const ParticlesQuery& query, const LocalInput& input) {
  std::vector<Piece> pieces;
  for (const BlockView& places : input.of(query.coordinates)) {
    const BlockView* values = query.colour_by >= 0 ? input.find(query.colour_by, places.block.id) : nullptr;
    pieces.push_back(piece_of(query, places, values));
  }
  return pieces;
}

}  // namespace sidestream::rendering
