// Particles in an image: their selection and positions.
#pragma once

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/option_table.hpp"
#include "visualisation/contour/contour.hpp"

namespace sidestream::rendering {

/// Particles of a mesh of type `points`, drawn as balls or discs.
struct ParticlesQuery {
  std::int32_t coordinates = -1, colour_by = -1;  ///< variables; -1: none
  int component = 0, dimensions = 3;
  double radius = 0;       ///< in the units of the coordinates; 0: `pixels` is used
  double pixels = 0;       ///< radius in pixels of the image, wherever the particle is
  bool disc = false;       ///< flat, facing the camera and unlit
  bool in_domain = false;  ///< the domain includes these particles
};

/// Options for the particles and their size, without colours; `colour_by` is not read. Reading throws
/// Error(configuration).
[[nodiscard]] OptionTable<ParticlesQuery> particles_options();

[[nodiscard]] Selection selection_of(const ParticlesQuery& query, const Metadata& metadata);

/// Pieces of this server's blocks with points only: each counted particle once. Leaves out flagged ghosts, particles
/// that count in another block, and those with a coordinate that is NaN or infinite. Data: the component of
/// `colour_by`, NaN where it was not delivered.
[[nodiscard]] std::vector<Piece> extract(const ParticlesQuery& query, const LocalInput& input);

}  // namespace sidestream::rendering
