// What every server is told of all halos in cells of several levels, for passes that look at cells again.
#pragma once

#include <algorithm>
#include <vector>

#include "analysis/halos/level_parts.hpp"

namespace sidestream::halos {

/// A cell of a halo, by its number, and where its value is among this server's.
struct NumberedLevelCell {
  std::int64_t halo = -1;
  LevelCell cell;
  Index3 place{};
  std::uint32_t view = 0;
};

/// Halos in the order of their numbers, that of their peaks' rank.
struct KnownLevelHalos {
  /// Where halos are looked at from: so many half steps above the middle of the peak's cell.
  struct Place {
    LevelCell peak;
    std::array<double, 3> offset{};
  };
  std::vector<Place> places;
  std::vector<LevelHaloPart> parts;  ///< of components that several servers have, by their first cells
  double mean = 0;                   ///< of the field, if it was measured

  [[nodiscard]] Bytes to_bytes() const;
  [[nodiscard]] static KnownLevelHalos from_bytes(BytesView bytes);
};

/// The cells of halos, by halo, among those that were found together with `found`.
[[nodiscard]] std::vector<NumberedLevelCell> numbered_cells(const std::vector<OwnedLevelCell>& owned,
                                                            const LevelParts& found, const KnownLevelHalos& known,
                                                            const Levels& levels);

/// Collective: the same on all servers. `offset_of(halo)` says where each is looked at from. Grows with the number of
/// halos: 56 bytes for each, and 48 for each of its parts.
template <class OffsetOf>
[[nodiscard]] KnownLevelHalos known_levels(const GatheredLevels& mine, OffsetOf offset_of, double mean,
                                           Communicator& servers) {
  KnownLevelHalos known, all;
  for (const LevelHalo& halo : mine.halos) known.places.push_back({halo.peak.cell, offset_of(halo)});
  known.parts = mine.parts;
  for (const Bytes& bytes : servers.all_gather(known.to_bytes())) {
    const KnownLevelHalos theirs = KnownLevelHalos::from_bytes(bytes);
    all.places.insert(all.places.end(), theirs.places.begin(), theirs.places.end());
    all.parts.insert(all.parts.end(), theirs.parts.begin(), theirs.parts.end());
  }
  std::sort(all.parts.begin(), all.parts.end(),
            [](const LevelHaloPart& a, const LevelHaloPart& b) { return a.first < b.first; });
  all.mean = mean;
  return all;
}

}  // namespace sidestream::halos
