// List of all halos of an iteration, sent to every server for passes that visit the cells again.
#pragma once

#include <algorithm>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::halos {

/// Halos in the order of their numbers. `PlaceOf`: the centre of a halo. `PartOf`: a part of a component that several
/// servers have, identified by `first_cell`. Both are trivially copyable and sent between servers.
template <class PlaceOf, class PartOf>
struct Known {
  using Place = PlaceOf;
  std::vector<Place> places;
  std::vector<PartOf> parts;  ///< sorted by their first cells
  double mean = 0;            ///< mean of the field, if it was measured

  /// The part with this first cell, or null.
  template <class Cell>
  [[nodiscard]] const PartOf* part_from(const Cell& first_cell) const {
    const auto at = std::lower_bound(parts.begin(), parts.end(), first_cell,
                                     [](const PartOf& part, const Cell& cell) { return part.first_cell < cell; });
    return at == parts.end() || at->first_cell != first_cell ? nullptr : &*at;
  }

  [[nodiscard]] Bytes to_bytes() const {
    ByteWriter out;
    out.put(places);
    out.put(parts);
    out.put(mean);
    return out.take();
  }
  [[nodiscard]] static Known from_bytes(BytesView bytes) {
    Known known;
    ByteReader in(bytes);
    in.get(known.places);
    in.get(known.parts);
    in.get(known.mean);
    return known;
  }

  /// Collective: returns the places and parts of all servers, the same on all. Each server has its share of the halos,
  /// in order.
  [[nodiscard]] Known of_all(Communicator& servers) const {
    Known all;
    all.mean = mean;
    for (const Bytes& bytes : servers.all_gather(to_bytes())) {
      const Known theirs = from_bytes(bytes);
      all.places.insert(all.places.end(), theirs.places.begin(), theirs.places.end());
      all.parts.insert(all.parts.end(), theirs.parts.begin(), theirs.parts.end());
    }
    std::sort(all.parts.begin(), all.parts.end(),
              [](const PartOf& a, const PartOf& b) { return a.first_cell < b.first_cell; });
    return all;
  }
};

}  // namespace sidestream::halos
