// All halos in cells of several levels, known to every server.
#pragma once

#include <array>
#include <vector>

#include "cosmology/halos/amr/level_parts.hpp"
#include "cosmology/halos/finder/halo_broadcast.hpp"

namespace sidestream::halos {

/// A cell of a halo, with the halo's number and the place of the cell's value on this server.
struct NumberedLevelCell {
  std::int64_t halo = -1;
  LevelCell cell;
  Index3 place{};
  std::uint32_t view = 0;
};

/// Centre of a halo's profile: an offset in half steps from the middle of the peak's cell.
struct LevelHaloPlace {
  LevelCell peak;
  std::array<double, 3> offset{};
};

/// Sorted by the rank of their peaks.
using KnownLevelHalos = Known<LevelHaloPlace, LevelHaloPart>;

/// Cells of halos, by halo, among the cells `owned` that were found together with `found`.
[[nodiscard]] std::vector<NumberedLevelCell> numbered_cells(const std::vector<OwnedLevelCell>& owned,
                                                            const LevelParts& found, const KnownLevelHalos& known,
                                                            const AmrGrid& levels);

/// Collective: returns the same halos on all servers. `offset_of(halo)` returns the offset of each halo's centre. Takes
/// 56 bytes for each halo of the whole mesh, and 48 for each of its parts.
template <class OffsetOf>
[[nodiscard]] KnownLevelHalos known_levels(const GatheredLevels& mine, OffsetOf offset_of, double mean,
                                           Communicator& servers) {
  KnownLevelHalos known{{}, mine.parts, mean};
  for (const LevelHalo& halo : mine.halos) known.places.push_back({halo.peak.cell, offset_of(halo)});
  return known.of_all(servers);
}

}  // namespace sidestream::halos
