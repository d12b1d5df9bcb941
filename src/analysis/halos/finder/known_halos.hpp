// All halos in the cells of a uniform mesh, as every server knows them.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "analysis/halos/finder/gathering.hpp"
#include "analysis/halos/finder/halo_broadcast.hpp"

namespace sidestream::halos {

/// A run of cells of a halo, by its number, and the view among this server's that has them. Travels.
struct NumberedRun {
  std::int64_t halo = -1;
  std::size_t view = 0;
  Run run;
};

/// Where a halo is looked at from: the peak's cell, and how many cells (of each axis) above its middle.
struct HaloPlace {
  Index peak = -1;
  std::array<double, 3> offset{};
};

/// In the order of their peaks' linear index.
using KnownHalos = Known<HaloPlace, HaloPart>;

/// The runs of halos in this server's blocks, by halo. `rule`, `halo`: by which they were found.
[[nodiscard]] std::vector<NumberedRun> numbered_runs(std::span<const BlockView> views, const Lattice& lattice,
                                                     const Rule& rule, const HaloRule& halo, const KnownHalos& known);

/// Collective: the same on all servers. `mine`: this server's share of the halos, sorted over all; `offset_of(halo)`
/// says where each is looked at from. Grows with the number of halos: 32 bytes for each, and 16 for each of its parts.
template <class OffsetOf>
[[nodiscard]] KnownHalos known_halos(const std::vector<Halo>& mine, const std::vector<HaloPart>& parts,
                                     OffsetOf offset_of, double mean, Communicator& servers) {
  KnownHalos known{{}, parts, mean};
  for (const Halo& halo : mine) known.places.push_back({halo.peak.id, offset_of(halo)});
  return known.of_all(servers);
}

}  // namespace sidestream::halos
