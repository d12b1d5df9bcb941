// The particles of halos in cells of several levels.
#pragma once

#include <vector>

#include "analysis/halos/amr/known_levels.hpp"
#include "analysis/halos/finder/particles.hpp"

namespace sidestream::halos {

/// A particle and the smallest cell that there may be where it lies. Travels.
struct PlacedLevelParticle {
  std::int64_t id = 0;
  LevelCell cell;
  double weight = 1;
};

/// A server's particles in halos: those whose cells are here as well, and those of which other servers have to say
/// whether they are in one. Outside of the mesh is nobody; periodic axes go on.
struct LevelParticles {
  std::vector<HaloMember> members;
  std::vector<PlacedLevelParticle> others;
};

/// `cells`: of halos, of this server's views of variable `density`.
[[nodiscard]] LevelParticles find_level_particles(const ParticleQuery& query, std::int32_t density, int component,
                                                  const AmrGrid& levels, const std::vector<NumberedLevelCell>& cells,
                                                  const LocalInput& input);

}  // namespace sidestream::halos
