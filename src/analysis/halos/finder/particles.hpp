// The particles of halos: those that lie in their cells.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/halos/finder/gathering.hpp"
#include "analysis/halos/finder/halo_options.hpp"
#include "analysis/halos/finder/tracks.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// Numbered particles of a mesh of points.
struct ParticleQuery {
  std::int32_t coordinates = -1, ids = -1;
  std::int32_t weight = -1;  ///< -1: each counts as one
  int component = 0;         ///< of the weight
};

/// The options `particles` and `weight`, and their values, if given. Throws Error(configuration).
[[nodiscard]] std::vector<Option> particle_options();
[[nodiscard]] std::optional<ParticleQuery> read_particle_query(const Settings& settings, const Metadata& metadata,
                                                               const Variable& density);

/// A particle and the cell that it lies in. Travels.
struct PlacedParticle {
  std::int64_t id = 0;
  Index row = 0, place = 0;
  double weight = 1;
};

/// This server's particles, but for those that are known to lie in a cell below the boundary: whose cell is here.
/// Outside of the mesh is nobody; periodic axes go on.
[[nodiscard]] std::vector<PlacedParticle> place_particles(const ParticleQuery& query, const Field& field,
                                                          double boundary, const LocalInput& input);

/// A particle and the halo, by its peak or number, that it is in. Travels.
struct HaloMember {
  std::int64_t id = 0;
  Index peak = -1;
  double weight = 1;
};

/// Collective. Particles dealt out by their numbers, so that each server has those of the same numbers every time;
/// ascending.
[[nodiscard]] std::vector<HaloMember> dealt_by_number(const std::vector<HaloMember>& mine, Communicator& servers);

/// Collective. The particles in halos, as `dealt_by_number` has them. `runs`: of halos, in the rows that this server
/// keeps, by row and place.
[[nodiscard]] std::vector<HaloMember> members_of(const std::vector<PlacedParticle>& particles,
                                                 const std::vector<OwnedRun>& runs, const Lattice& lattice,
                                                 Communicator& servers);

/// Collective. Of each pair of halos before and now how many particles both have, and their weight now, added up
/// exactly; on the first server, others get nothing. `weighted`: whether weights are wanted.
[[nodiscard]] std::vector<SharedCells> shared_members(const std::vector<HaloMember>& before,
                                                      const std::vector<HaloMember>& now, bool weighted,
                                                      Communicator& servers);

}  // namespace sidestream::halos
