// Particles of halos in cells of several levels.
#pragma once

#include <vector>

#include "cosmology/halos/amr/known_levels.hpp"
#include "cosmology/halos/finder/particles.hpp"

namespace sidestream::halos {

/// A particle and the cell of the finest possible level that contains it. Trivially copyable; sent between servers.
struct PlacedLevelParticle {
  std::int64_t id = 0;
  LevelCell cell;
  double weight = 1;
};

/// A server's particles in halos: those whose cells are on this server as well, and those for which other servers must
/// decide whether they are in a halo. Particles outside the mesh are in none; periodic axes wrap.
struct LevelParticles {
  std::vector<HaloMember> members;
  std::vector<PlacedLevelParticle> others;
};

/// `cells`: of halos, from this server's views of the variable `density`.
[[nodiscard]] LevelParticles find_level_particles(const ParticleQuery& query, std::int32_t density, int component,
                                                  const AmrGrid& levels, const std::vector<NumberedLevelCell>& cells,
                                                  const LocalInput& input);

}  // namespace sidestream::halos
