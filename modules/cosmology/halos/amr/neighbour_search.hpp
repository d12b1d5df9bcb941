// Search for neighbours among a server's cells of all levels.
#pragma once

#include <memory>
#include <vector>

#include "cosmology/halos/amr/amr_graph.hpp"

namespace sidestream::halos {

/// A server's cells with values >= a threshold. Keeps a reference to the graph.
class NeighbourSearch {
 public:
  NeighbourSearch(const AmrGraph& graph, const LocalInput& input, double threshold, bool keep_places);

  [[nodiscard]] AmrDomain& domain() noexcept { return domain_; }

  /// Examines all neighbours of each cell n. `join(n, m)`: cell m is a neighbour. Cells of one level find each other;
  /// of two levels only the finer cell finds the other. `seek(n, place)`: another block may have this cell, of n's
  /// level or a coarser one, as a neighbour. `open(n)`: not all neighbours of n are known, or other blocks may seek n.
  template <class Join, class Seek, class Open>
  void run(Join&& join, Seek&& seek, Open&& open) const {
    const CellIndex index(domain_.cells);
    for (std::uint32_t n = 0; n < domain_.cells.size(); ++n) {
      bool known = true;
      for (const Index3& step : grid_.steps()) {
        const std::optional<AmrCell> beside = grid_.beside(domain_.cells[n], step);
        if (beside && !examine(index, n, *beside, join, seek)) known = false;
      }
      if (!known) open(n);
    }
  }

 private:
  /// Examines a neighbouring `place` of cell n on its level. It is a cell, a part of a coarser cell, or refined; if
  /// refined, the finer cells look here. Returns false if another block may have it.
  template <class Join, class Seek>
  bool examine(const CellIndex& index, std::uint32_t n, const AmrCell& place, Join& join, Seek& seek) const {
    const auto join_with = [&](const AmrCell& cell) {
      const std::int64_t other = index.find(cell);
      if (other >= 0) join(n, static_cast<std::uint32_t>(other));
      return other >= 0;
    };
    bool found = join_with(place);
    if (!found) for_each_around(n, place, [&](const AmrCell& cell) { return found = join_with(cell); });
    if (found || blocks_[domain_.views[n]]->has_all_of(place)) return true;
    seek(n, place);
    for_each_around(n, place, [&](const AmrCell& cell) {
      seek(n, cell);
      return false;
    });
    return false;
  }
  /// Calls `f` for the cells of coarser levels that contain a place but not cell n, since cells that contain n are
  /// refined. `f` returns true to stop.
  template <class F>
  void for_each_around(std::uint32_t n, AmrCell place, F&& f) const {
    for (AmrCell own = domain_.cells[n]; place.level > 0;) {
      place = grid_.parent_of(place);
      own = grid_.parent_of(own);
      if (place == own || f(place)) return;
    }
  }

  const AmrGrid& grid_;
  std::vector<std::unique_ptr<AmrBlock>> blocks_;  ///< null for views without counted cells
  AmrDomain domain_;
};

}  // namespace sidestream::halos
