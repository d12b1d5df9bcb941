// Particles in a picture: which ones, and where they are.
#pragma once

#include "contour/contour.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream::rendering {

/// The particles of a mesh of type `points`, each as a ball or a disc.
struct ParticlesQuery {
  std::int32_t coordinates = -1, colour_by = -1;  ///< no variable: -1
  int component = 0, dimensions = 3;
  double radius = 0;       ///< in the units of the coordinates; 0: `pixels` counts
  double pixels = 0;       ///< radius in pixels of the picture, wherever the particle is
  bool disc = false;       ///< flat, towards the camera and unlit
  bool in_domain = false;  ///< the domain reaches as far as these particles do
};

/// The options that say which particles and how large (no colours), and their values, checked; `colour_by` is not read.
/// Throws Error(configuration).
[[nodiscard]] std::vector<Option> particles_options();
[[nodiscard]] ParticlesQuery read_particles_query(const Settings& settings, const Metadata& metadata);

[[nodiscard]] Selection selection_of(const ParticlesQuery& query, const Metadata& metadata);

/// A piece for each of this server's blocks with points alone, each particle that counts once: flagged ghosts and
/// particles that count in another block are left out, and those without a place (a coordinate that is NaN or
/// infinite). Data: the component of `colour_by`, NaN where that was not delivered.
[[nodiscard]] std::vector<Piece> extract(const ParticlesQuery& query, const LocalInput& input);

}  // namespace sidestream::rendering
