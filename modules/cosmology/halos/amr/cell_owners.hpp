// Division of a mesh of several levels among the servers.
#pragma once

#include <set>

#include "cosmology/halos/amr/amr_grid.hpp"

namespace sidestream::halos {

class AmrGraph;

/// Distributes the cells of one level to servers by their hashes, always in the same way. The level has many more cells
/// than there are servers. One server keeps everything in such a cell; a coarser cell is kept by all servers that have
/// a part of it. Keeps a reference to the grid.
class CellOwners {
 public:
  CellOwners(const AmrGraph& graph, int servers);
  /// Server on which a cell counts; for a coarser cell that of its first part.
  [[nodiscard]] int home_of(const AmrCell& cell) const noexcept { return keeper_of(first_part(cell)); }
  [[nodiscard]] std::set<int> keepers_of(const AmrCell& cell) const;

 private:
  [[nodiscard]] AmrCell first_part(const AmrCell& cell) const noexcept;
  [[nodiscard]] int keeper_of(const AmrCell& dealt) const noexcept {
    return static_cast<int>(dealt.hash() % static_cast<std::uint64_t>(servers_));
  }

  const AmrGrid& grid_;
  int servers_;
  std::int32_t level_ = 0;  ///< the level whose cells are dealt out
};

}  // namespace sidestream::halos
