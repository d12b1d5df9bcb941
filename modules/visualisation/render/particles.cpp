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

std::int32_t read_coordinates(const Settings& settings, const Metadata& metadata, const ParticlesQuery&) {
  return read_particles(settings, metadata).array(Role::coordinates);
}

/// Takes one size of the particles out of two options.
void check_size(const OptionTable<ParticlesQuery>& options, const Settings& settings, const Metadata& metadata,
                ParticlesQuery& query) {
  query.dimensions = metadata.mesh_of(metadata.variables.at(static_cast<std::size_t>(query.coordinates))).dimensions;
  const bool in_pixels = options.given(settings, &ParticlesQuery::pixels);
  if (!options.given(settings, &ParticlesQuery::radius)) {
    if (!in_pixels) query.pixels = default_pixels;
  } else if (in_pixels) {
    options.fail(settings, &ParticlesQuery::pixels,
                 "found both 'radius' and 'pixels' for the same particles; remove one of them");
  }
}

}  // namespace

OptionTable<ParticlesQuery> particles_options() {
  using Query = ParticlesQuery;
  OptionTable<Query> table{
      options_read_by(read_coordinates,
                      {{.name = "mesh",
                        .type = OptionType::mesh,
                        .required = true,
                        .text = "The particles: a mesh of type `points`."}},
                      &Query::coordinates),
      option("radius", &Query::radius, "Radius of each particle in the units of the coordinates, instead of `pixels`.",
             {.minimum = least_radius, .maximum = most_radius}),
      option("pixels", &Query::pixels,
             "Radius of each particle in pixels, independent of its distance. Default: 2, if there is no `radius`.",
             {.minimum = 0.01, .maximum = 1000}),
      option<OptionType::choice>(
          "shape", &Query::disc,
          "`disc`: flat, facing the camera and unlit, with exactly the colours of the colour bar.",
          {.standard = "sphere", .choices = {{"sphere", false}, {"disc", true}}})};
  return table.then(check_size);
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
