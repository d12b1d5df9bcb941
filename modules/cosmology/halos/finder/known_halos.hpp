// All halos in the cells of a uniform mesh, known to every server.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "cosmology/halos/finder/gathering.hpp"
#include "cosmology/halos/finder/halo_broadcast.hpp"

namespace sidestream::halos {

/// A run of cells of a halo, with the halo's number and the index of this server's view that has them. Trivially
/// copyable; sent between servers.
struct NumberedRun {
  std::int64_t halo = -1;
  std::size_t view = 0;
  Run run;
};

/// Centre of a halo's profile: the peak's cell, and an offset in cells along each axis from its middle.
struct HaloPlace {
  Index peak = -1;
  std::array<double, 3> offset{};
};

/// Sorted by the linear index of their peaks.
using KnownHalos = Known<HaloPlace, HaloPart>;

/// Runs of halos in this server's blocks, by halo. `rule`, `halo`: the rules by which they were found.
[[nodiscard]] std::vector<NumberedRun> numbered_runs(std::span<const BlockView> views, const Lattice& lattice,
                                                     const Rule& rule, const HaloRule& halo, const KnownHalos& known);

/// Collective: returns the same halos on all servers. `mine`: this server's share of the halos, sorted over all;
/// `offset_of(halo)` returns the offset of each halo's centre. Takes 32 bytes for each halo of the whole mesh, and 16
/// for each of its parts.
template <class OffsetOf>
[[nodiscard]] KnownHalos known_halos(const std::vector<Halo>& mine, const std::vector<HaloPart>& parts,
                                     OffsetOf offset_of, double mean, Communicator& servers) {
  KnownHalos known{{}, parts, mean};
  for (const Halo& halo : mine) known.places.push_back({halo.peak.id, offset_of(halo)});
  return known.of_all(servers);
}

}  // namespace sidestream::halos
