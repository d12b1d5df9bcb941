// What a server finds in its blocks of several levels: whole halos, and parts of components that may go on elsewhere.
#pragma once

#include <span>
#include <vector>

#include "analysis/halos/amr/level_blocks.hpp"
#include "analysis/halos/amr/level_halo.hpp"
#include "analysis/halos/finder/local_components.hpp"

namespace sidestream::halos {

/// A cell and a part: one that it belongs to, or one that goes on there if anybody has it. Travels.
struct PartCell {
  LevelCell cell;
  std::int64_t part = 0;
};

/// A part of a component.
struct LevelPart {
  LevelPeak peak;
  Index cells = 0;      ///< of all levels
  Index3 first_cell{};  ///< the least rank of its cells: no other part has it
};

/// A part of a component and the halo that it belongs to, both by ranks of cells: of the part's first one, and the
/// halo's peak. Travels.
struct LevelHaloPart {
  Index3 first_cell{}, peak{};
};

/// A cell above the boundary, where its value is, and what it belongs to: whole halo n, or, as ~n, part n.
struct OwnedLevelCell {
  LevelCell cell;
  Index3 place{};          ///< in the arrays of its block
  std::uint32_t view = 0;  ///< the block, by its number among the views of the variable
  std::int64_t owner = 0;
};

/// Parts are numbered from 0.
struct LevelParts {
  std::vector<LevelHalo> whole;
  std::vector<LevelPart> parts;
  std::vector<Bytes> planes;            ///< of each part: what LevelPlanes wrote
  std::vector<PartCell> taken, sought;  ///< cells next to which another block may go on, and these places

  void write(ByteWriter& out) const;
  [[nodiscard]] static LevelParts read(ByteReader& in);
  /// Takes what another has; its parts get numbers behind these.
  void append(LevelParts&& other);
};

/// Looks through this server's blocks: cells that count (on the finest level that has their place) and are >=
/// `boundary`. Does not communicate.
/// `owned`: if given, gets the cells of all halos and parts.
[[nodiscard]] LevelParts find_level_parts(const LocalInput& input, std::int32_t variable, int component,
                                          const AmrGrid& levels, double boundary, const HaloRule& halo,
                                          std::vector<OwnedLevelCell>* owned = nullptr);

struct GatheredLevels {
  std::vector<LevelHalo> halos;      ///< this server's share of all, in ascending rank of their peaks over all servers
  std::vector<LevelHaloPart> parts;  ///< those that were found here, of halos alone
};

/// Collective.
[[nodiscard]] GatheredLevels gather_level_halos(LevelParts found, const AmrGrid& levels, const HaloRule& halo,
                                                Communicator& servers);

}  // namespace sidestream::halos
