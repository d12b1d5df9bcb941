#include "analysis/halos/known_halos.hpp"

#include <algorithm>

namespace sidestream::halos {

std::int64_t KnownHalos::number_of(std::int64_t owner, const FoundParts& found) const {
  Index peak = owner;
  if (owner < 0) {
    const Index first_cell = found.parts[static_cast<std::size_t>(~owner)].first_cell;
    const auto at = std::lower_bound(parts.begin(), parts.end(), first_cell,
                                     [](const HaloPart& part, Index cell) { return part.first_cell < cell; });
    if (at == parts.end() || at->first_cell != first_cell) return -1;
    peak = at->peak;
  }
  const auto at = std::lower_bound(places.begin(), places.end(), peak,
                                   [](const Place& place, Index id) { return place.peak < id; });
  return at == places.end() || at->peak != peak ? -1 : at - places.begin();
}

std::vector<NumberedRun> numbered_runs(std::span<const BlockView> views, const Lattice& lattice, const Rule& rule,
                                       const HaloRule& halo, const KnownHalos& known) {
  const FoundParts found = find_parts(views, lattice, rule, halo, true);
  std::vector<NumberedRun> runs;
  std::size_t at = 0;
  for (std::size_t v = 0; v < views.size(); ++v) {
    for (; at < found.view_ends[v]; ++at) {
      const std::int64_t number = known.number_of(found.owned[at].owner, found);
      if (number >= 0) runs.push_back({number, v, found.owned[at].run});
    }
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const NumberedRun& a, const NumberedRun& b) { return a.halo < b.halo; });
  return runs;
}

Bytes KnownHalos::to_bytes() const {
  ByteWriter out;
  out.put(places);
  out.put(parts);
  out.put(mean);
  return out.take();
}

KnownHalos KnownHalos::from_bytes(BytesView bytes) {
  KnownHalos known;
  ByteReader in(bytes);
  in.get(known.places);
  in.get(known.parts);
  in.get(known.mean);
  return known;
}

}  // namespace sidestream::halos
