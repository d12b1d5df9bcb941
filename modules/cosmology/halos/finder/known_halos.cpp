#include "cosmology/halos/finder/known_halos.hpp"

#include <algorithm>

namespace sidestream::halos {

namespace {

/// Number of the halo of a run from LocalComponents: `owner` is the halo's peak, or ~n for part n of `found`. -1: none.
std::int64_t number_of(std::int64_t owner, const LocalComponents& found, const KnownHalos& known) {
  Index peak = owner;
  if (owner < 0) {
    const HaloPart* const part = known.part_from(found.parts[static_cast<std::size_t>(~owner)].first_cell);
    if (part == nullptr) return -1;
    peak = part->peak;
  }
  const auto at = std::lower_bound(known.places.begin(), known.places.end(), peak,
                                   [](const HaloPlace& place, Index id) { return place.peak < id; });
  return at == known.places.end() || at->peak != peak ? -1 : at - known.places.begin();
}

}  // namespace

std::vector<NumberedRun> numbered_runs(std::span<const BlockView> views, const Lattice& lattice, const Rule& rule,
                                       const HaloRule& halo, const KnownHalos& known) {
  const LocalComponents found = find_parts(views, lattice, rule, halo, true);
  std::vector<NumberedRun> runs;
  std::size_t at = 0;
  for (std::size_t v = 0; v < views.size(); ++v) {
    for (; at < found.view_ends[v]; ++at) {
      const std::int64_t number = number_of(found.owned[at].owner, found, known);
      if (number >= 0) runs.push_back({number, v, found.owned[at].run});
    }
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const NumberedRun& a, const NumberedRun& b) { return a.halo < b.halo; });
  return runs;
}

}  // namespace sidestream::halos
