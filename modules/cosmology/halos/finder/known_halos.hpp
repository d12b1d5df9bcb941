// All halos of an iteration, known to every server for the pass that visits the cells again.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "cosmology/halos/finder/gathering.hpp"

namespace sidestream::halos {

/// Centre of a halo's profile: an offset in the graph's units of length from the middle of the peak's cell. Trivially
/// copyable; sent between servers.
template <class Id>
struct HaloPlace {
  Id peak = no_cell<Id>;
  std::array<double, 3> offset{};
};

/// Halos in the order of their numbers, which is that of their peaks.
template <class Id>
struct KnownHalos {
  std::vector<HaloPlace<Id>> places;
  std::vector<HaloPart<Id>> parts;  ///< that several servers may have, sorted by their first cells
  double mean = 0;                  ///< mean of the field, if it was measured

  /// Number of the halo with this peak; -1: none.
  [[nodiscard]] std::int64_t number_of(const Id& peak) const {
    const auto at = std::lower_bound(places.begin(), places.end(), peak,
                                     [](const HaloPlace<Id>& place, const Id& id) { return place.peak < id; });
    return at == places.end() || peak < at->peak ? -1 : at - places.begin();
  }
  /// Number of the halo to which a part belongs; -1: none.
  [[nodiscard]] std::int64_t number_of(const Part<Id>& part) const {
    const auto at = std::lower_bound(parts.begin(), parts.end(), part.first_cell,
                                     [](const HaloPart<Id>& one, const Id& id) { return one.first_cell < id; });
    return at == parts.end() || part.first_cell < at->first_cell ? -1 : number_of(at->peak);
  }

  [[nodiscard]] Bytes to_bytes() const {
    ByteWriter out;
    out.put(places);
    out.put(parts);
    out.put(mean);
    return out.take();
  }
  [[nodiscard]] static KnownHalos from_bytes(BytesView bytes) {
    KnownHalos known;
    ByteReader in(bytes);
    in.get(known.places);
    in.get(known.parts);
    in.get(known.mean);
    return known;
  }

  /// Collective: returns the places and parts of all servers, the same on all. Each server has its share of the halos,
  /// in order.
  [[nodiscard]] KnownHalos of_all(Communicator& servers) const {
    KnownHalos all{{}, {}, mean};
    for (const Bytes& bytes : servers.all_gather(to_bytes())) {
      const KnownHalos theirs = from_bytes(bytes);
      all.places.insert(all.places.end(), theirs.places.begin(), theirs.places.end());
      all.parts.insert(all.parts.end(), theirs.parts.begin(), theirs.parts.end());
    }
    std::sort(all.parts.begin(), all.parts.end(),
              [](const HaloPart<Id>& a, const HaloPart<Id>& b) { return a.first_cell < b.first_cell; });
    return all;
  }
};

/// A piece of a halo, with the halo's number and the source of its values on this server.
template <CellGraph Graph>
struct LocatedPiece {
  std::int64_t halo = -1;
  typename Graph::Piece piece;
  typename Graph::Source source;
};

/// Pieces of halos on this server, by halo. `found`: with `owned`, by the rules by which halos were found.
template <CellGraph Graph>
[[nodiscard]] std::vector<LocatedPiece<Graph>> located_pieces(const LocalComponents<Graph>& found,
                                                              const KnownHalos<typename Graph::Id>& known) {
  std::vector<std::int64_t> wholes, parts;
  for (const auto& halo : found.whole) wholes.push_back(known.number_of(halo.peak.id));
  for (const auto& part : found.parts) parts.push_back(known.number_of(part));
  std::vector<LocatedPiece<Graph>> pieces;
  for (std::size_t n = 0; n < found.owned.size(); ++n) {
    const auto& [piece, owner] = found.owned[n];
    const std::int64_t halo =
        owner < 0 ? parts[static_cast<std::size_t>(~owner)] : wholes[static_cast<std::size_t>(owner)];
    if (halo >= 0) pieces.push_back({halo, piece, found.sources[n]});
  }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const LocatedPiece<Graph>& a, const LocatedPiece<Graph>& b) { return a.halo < b.halo; });
  return pieces;
}

}  // namespace sidestream::halos
