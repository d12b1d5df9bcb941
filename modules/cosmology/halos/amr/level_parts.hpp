// Components found in a server's blocks of several levels: whole halos, and parts that may continue elsewhere.
#pragma once

#include <span>
#include <vector>

#include "cosmology/halos/amr/level_blocks.hpp"
#include "cosmology/halos/amr/level_halo.hpp"
#include "cosmology/halos/finder/local_components.hpp"

namespace sidestream::halos {

/// A cell and a part: the part that contains the cell, or the part that continues there if any server has the cell.
/// Trivially copyable; sent between servers.
struct PartCell {
  LevelCell cell;
  std::int64_t part = 0;
};

/// A part of a component.
struct LevelPart {
  LevelPeak peak;
  Index cells = 0;      ///< number of cells on all levels
  Index3 first_cell{};  ///< smallest rank of its cells, which identifies the part
};

/// A part of a component and its halo, by ranks of cells: the part's first cell and the halo's peak. Trivially
/// copyable; sent between servers.
struct LevelHaloPart {
  Index3 first_cell{}, peak{};
};

/// A cell above the boundary, the place of its value, and its owner: whole halo n, or, as ~n, part n.
struct OwnedLevelCell {
  LevelCell cell;
  Index3 place{};          ///< index in the arrays of its block
  std::uint32_t view = 0;  ///< index of the block among the views of the variable
  std::int64_t owner = 0;
};

/// Parts are numbered from 0.
struct LevelParts {
  std::vector<LevelHalo> whole;
  std::vector<LevelPart> parts;
  std::vector<Bytes> planes;            ///< of each part, as LevelPlanes wrote them
  std::vector<PartCell> taken, sought;  ///< cells next to which another block may continue, and the places there

  void write(ByteWriter& out) const;
  [[nodiscard]] static LevelParts read(ByteReader& in);
  /// Appends the contents of another; its parts are renumbered behind these.
  void append(LevelParts&& other);
};

/// Searches this server's blocks for counted cells (on the finest level at their place) that are >= `boundary`. Does
/// not communicate. `owned`: if given, receives the cells of all halos and parts.
[[nodiscard]] LevelParts find_level_parts(const LocalInput& input, std::int32_t variable, int component,
                                          const AmrGrid& levels, double boundary, const HaloRule& halo,
                                          std::vector<OwnedLevelCell>* owned = nullptr);

struct GatheredLevels {
  std::vector<LevelHalo> halos;      ///< this server's share of all, in ascending rank of their peaks over all servers
  std::vector<LevelHaloPart> parts;  ///< parts of halos that were found on this server
};

/// Collective: merges the parts of all servers.
[[nodiscard]] GatheredLevels gather_level_halos(LevelParts found, const AmrGrid& levels, const HaloRule& halo,
                                                Communicator& servers);

}  // namespace sidestream::halos
