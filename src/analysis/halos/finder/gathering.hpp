// From what servers found to the halos of the whole mesh.
#pragma once

#include <vector>

#include "analysis/halos/finder/merge_components.hpp"

namespace sidestream::halos {

/// A part of a component, by its first cell, and the peak of the halo that it belongs to.
struct HaloPart {
  Index first_cell = -1, peak = -1;
};

/// This server's share of all halos, and its runs with the peaks of the halos that they belong to.
struct Gathered {
  std::vector<Halo> halos;
  std::vector<OwnedRun> runs;   ///< of halos alone
  std::vector<HaloPart> parts;  ///< those found here, of halos alone
};

/// Collective. Parts of a component go to the server of its first part, which adds them up.
[[nodiscard]] Gathered gather_halos(LocalComponents found, const Lattice& lattice, const Rule& rule,
                                    const HaloRule& halo, Communicator& servers);

/// Collective. Deals halos out anew, so that over all servers they ascend by the linear index of the peak and all have
/// about as many.
[[nodiscard]] std::vector<Halo> sorted_halos(const std::vector<Halo>& mine, Communicator& servers);

}  // namespace sidestream::halos
