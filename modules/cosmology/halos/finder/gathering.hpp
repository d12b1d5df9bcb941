// Merging of the servers' parts into the halos of the whole mesh.
#pragma once

#include <vector>

#include "cosmology/halos/finder/merge_components.hpp"

namespace sidestream::halos {

/// A part of a component, by its first cell, and the peak of its halo.
struct HaloPart {
  Index first_cell = -1, peak = -1;
};

/// This server's share of all halos, and its runs with the peaks of their halos.
struct Gathered {
  std::vector<Halo> halos;
  std::vector<OwnedRun> runs;   ///< only those of halos
  std::vector<HaloPart> parts;  ///< found on this server; only those of halos
};

/// Collective: sends the parts of a component to the server of its first part, which adds them up.
[[nodiscard]] Gathered gather_halos(LocalComponents found, const Lattice& lattice, const Rule& rule,
                                    const HaloRule& halo, Communicator& servers);

/// Collective: redistributes halos so that they ascend by the linear index of the peak over all servers, in equal
/// shares.
[[nodiscard]] std::vector<Halo> sorted_halos(const std::vector<Halo>& mine, Communicator& servers);

}  // namespace sidestream::halos
