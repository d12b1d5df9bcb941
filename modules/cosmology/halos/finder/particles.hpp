// Particles in the cells of halos.
#pragma once

#include <cstdint>
#include <vector>

#include "cosmology/halos/finder/gathering.hpp"
#include "cosmology/halos/finder/halo_options.hpp"
#include "cosmology/halos/finder/tracks.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// Numbered particles of a mesh of points.
struct ParticleQuery {
  std::int32_t coordinates = -1, ids = -1;
  std::int32_t weight = -1;  ///< -1: each counts as one
  int component = 0;         ///< component of the weight
};

/// The options `particles` and `weight`, and their values, if given. Throws Error(configuration).
[[nodiscard]] std::vector<Option> particle_options();
[[nodiscard]] std::optional<ParticleQuery> read_particle_query(const Settings& settings, const Metadata& metadata,
                                                               const Variable& density);

/// A particle and its cell. Trivially copyable; sent between servers.
struct PlacedParticle {
  std::int64_t id = 0;
  Index row = 0, place = 0;
  double weight = 1;
};

/// Places this server's particles, without those in cells that are on this server and below the boundary. Particles
/// outside the mesh are dropped; periodic axes wrap.
[[nodiscard]] std::vector<PlacedParticle> place_particles(const ParticleQuery& query, const Field& field,
                                                          double boundary, const LocalInput& input);

/// A particle and its halo, by peak or number. Trivially copyable; sent between servers.
struct HaloMember {
  std::int64_t id = 0;
  Index peak = -1;
  double weight = 1;
};

/// Collective: deals particles out by their numbers, so that each server has the same numbers every time; ascending.
[[nodiscard]] std::vector<HaloMember> dealt_by_number(const std::vector<HaloMember>& mine, Communicator& servers);

/// Collective: returns the particles in halos, dealt out by number. `runs`: of halos, in the rows that this server
/// keeps, by row and place.
[[nodiscard]] std::vector<HaloMember> members_of(const std::vector<PlacedParticle>& particles,
                                                 const std::vector<OwnedRun>& runs, const Lattice& lattice,
                                                 Communicator& servers);

/// Collective. For each pair of a halo before and one now: the number of particles in both, and their present weight,
/// added exactly. The result is on the first server, empty on others. `weighted`: adds up weights.
[[nodiscard]] std::vector<SharedCells> shared_members(const std::vector<HaloMember>& before,
                                                      const std::vector<HaloMember>& now, bool weighted,
                                                      Communicator& servers);

}  // namespace sidestream::halos
