// All halos in cells of several levels, as every server knows them.
#pragma once

#include <array>
#include <vector>

#include "analysis/halos/amr/level_parts.hpp"
#include "analysis/halos/finder/halo_broadcast.hpp"

namespace sidestream::halos {

/// A cell of a halo, by its number, and where its value is among this server's.
struct NumberedLevelCell {
  std::int64_t halo = -1;
  LevelCell cell;
  Index3 place{};
  std::uint32_t view = 0;
};

/// Where a halo is looked at from: so many half steps above the middle of the peak's cell.
struct LevelHaloPlace {
  LevelCell peak;
  std::array<double, 3> offset{};
};

/// In the order of their peaks' rank.
using KnownLevelHalos = Known<LevelHaloPlace, LevelHaloPart>;

/// The cells of halos, by halo, among those that were found together with `found`.
[[nodiscard]] std::vector<NumberedLevelCell> numbered_cells(const std::vector<OwnedLevelCell>& owned,
                                                            const LevelParts& found, const KnownLevelHalos& known,
                                                            const AmrGrid& levels);

/// Collective: the same on all servers. `offset_of(halo)` says where each is looked at from. Grows with the number of
/// halos: 56 bytes for each, and 48 for each of its parts.
template <class OffsetOf>
[[nodiscard]] KnownLevelHalos known_levels(const GatheredLevels& mine, OffsetOf offset_of, double mean,
                                           Communicator& servers) {
  KnownLevelHalos known{{}, mine.parts, mean};
  for (const LevelHalo& halo : mine.halos) known.places.push_back({halo.peak.cell, offset_of(halo)});
  return known.of_all(servers);
}

}  // namespace sidestream::halos
