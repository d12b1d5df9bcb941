#include "cosmology/halos/amr/known_levels.hpp"

#include <algorithm>

namespace sidestream::halos {
namespace {

/// Number of the halo whose peak has this rank; -1: none.
std::int64_t number_of(const Index3& peak, const std::vector<Index3>& ranks) {
  const auto at = std::lower_bound(ranks.begin(), ranks.end(), peak);
  return at == ranks.end() || *at != peak ? -1 : at - ranks.begin();
}

std::int64_t number_of(const LevelPart& part, const KnownLevelHalos& known, const std::vector<Index3>& ranks) {
  const LevelHaloPart* const of_halo = known.part_from(part.first_cell);
  return of_halo == nullptr ? -1 : number_of(of_halo->peak, ranks);
}

}  // namespace

std::vector<NumberedLevelCell> numbered_cells(const std::vector<OwnedLevelCell>& owned, const LevelParts& found,
                                              const KnownLevelHalos& known, const AmrGrid& levels) {
  std::vector<Index3> ranks;
  for (const LevelHaloPlace& place : known.places) ranks.push_back(levels.rank(place.peak));
  std::vector<std::int64_t> wholes, parts;
  for (const LevelHalo& halo : found.whole) wholes.push_back(number_of(halo.peak.rank, ranks));
  for (const LevelPart& part : found.parts) parts.push_back(number_of(part, known, ranks));
  std::vector<NumberedLevelCell> cells;
  for (const OwnedLevelCell& one : owned) {
    const std::int64_t halo =
        one.owner < 0 ? parts[static_cast<std::size_t>(~one.owner)] : wholes[static_cast<std::size_t>(one.owner)];
    if (halo >= 0) cells.push_back({halo, one.cell, one.place, one.view});
  }
  std::stable_sort(cells.begin(), cells.end(),
                   [](const NumberedLevelCell& a, const NumberedLevelCell& b) { return a.halo < b.halo; });
  return cells;
}

}  // namespace sidestream::halos
