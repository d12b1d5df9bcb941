// Which servers look after what part of a mesh of several levels.
#pragma once

#include <set>

#include "analysis/halos/amr/amr_grid.hpp"

namespace sidestream::halos {

/// The cells of one level, of which there are many more than servers, are dealt out by their hashes, always alike. What
/// lies in such a cell is kept together; a coarser cell is kept by all who have a part of it. Keeps a reference to the
/// levels.
class CellOwners {
 public:
  CellOwners(const AmrGrid& levels, int servers);
  /// Where a cell counts: with a coarser one's first part.
  [[nodiscard]] int home_of(const LevelCell& cell) const noexcept { return keeper_of(first_part(cell)); }
  [[nodiscard]] std::set<int> keepers_of(const LevelCell& cell) const;

 private:
  [[nodiscard]] LevelCell first_part(const LevelCell& cell) const noexcept;
  [[nodiscard]] int keeper_of(const LevelCell& dealt) const noexcept {
    return static_cast<int>(dealt.hash() % static_cast<std::uint64_t>(servers_));
  }

  const AmrGrid& levels_;
  int servers_;
  std::int32_t level_ = 0;  ///< whose cells are dealt out
};

}  // namespace sidestream::halos
