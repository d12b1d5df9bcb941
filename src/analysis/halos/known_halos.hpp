// What every server is told of all halos of an iteration, for passes that look at cells again.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "analysis/halos/gathering.hpp"

namespace sidestream::halos {

/// A run of cells of a halo, by its number, and the view among this server's that has them. Travels.
struct NumberedRun {
  std::int64_t halo = -1;
  std::size_t view = 0;
  Run run;
};

/// Halos in the order of their numbers, that of their peaks' linear index.
struct KnownHalos {
  /// Where halos are looked at from: the peak's cell, and how many cells (of each axis) above its middle.
  struct Place {
    Index peak = -1;
    std::array<double, 3> offset{};
  };
  std::vector<Place> places;
  std::vector<HaloPart> parts;  ///< of components that several boxes have, by their first cells
  double mean = 0;              ///< of the field, if it was measured

  /// The number of the halo that a run belongs to as FoundParts has it: `owner` is its peak, or ~n of part n of
  /// `found`. -1: none.
  [[nodiscard]] std::int64_t number_of(std::int64_t owner, const FoundParts& found) const;

  [[nodiscard]] Bytes to_bytes() const;
  [[nodiscard]] static KnownHalos from_bytes(BytesView bytes);
};

/// The runs of halos in this server's blocks, by halo. `rule`, `halo`: by which they were found.
[[nodiscard]] std::vector<NumberedRun> numbered_runs(std::span<const BlockView> views, const Lattice& lattice,
                                                     const Rule& rule, const HaloRule& halo, const KnownHalos& known);

/// Collective: the same on all servers. `mine`: this server's share of the halos, sorted over all; `offset_of(halo)`
/// says where each is looked at from. Grows with the number of halos: 32 bytes for each, and 16 for each of its parts.
template <class OffsetOf>
[[nodiscard]] KnownHalos known_halos(const std::vector<Halo>& mine, const std::vector<HaloPart>& parts,
                                     OffsetOf offset_of, double mean, Communicator& servers) {
  KnownHalos known;
  known.mean = mean;
  for (const Halo& halo : mine) known.places.push_back({halo.peak.id, offset_of(halo)});
  known.parts = parts;
  std::vector<KnownHalos::Place> places;
  std::vector<HaloPart> all_parts;
  for (const Bytes& bytes : servers.all_gather(known.to_bytes())) {
    const KnownHalos theirs = KnownHalos::from_bytes(bytes);
    places.insert(places.end(), theirs.places.begin(), theirs.places.end());
    all_parts.insert(all_parts.end(), theirs.parts.begin(), theirs.parts.end());
  }
  std::sort(all_parts.begin(), all_parts.end(),
            [](const HaloPart& a, const HaloPart& b) { return a.first_cell < b.first_cell; });
  known.places = std::move(places);
  known.parts = std::move(all_parts);
  return known;
}

}  // namespace sidestream::halos
