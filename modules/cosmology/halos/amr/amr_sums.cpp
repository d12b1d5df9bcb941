#include "cosmology/halos/amr/amr_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cosmology/halos/amr/amr_graph.hpp"

namespace sidestream::halos {
namespace {

/// Adds factor * sum. The 200 leading bits of a sum suffice, and do not depend on the order in which it was added.
void add_times(ExactSum& total, const ExactSum& sum, double factor) noexcept {
  for (const double part : sum.expansion()) {
    if (std::isfinite(part)) total.add_product(part, factor);
  }
}

}  // namespace

void AmrPartSums::add(const AmrCell& cell, double value) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(graph_.dimensions()); ++a) {
    PlaneSums::add(a, {cell.level, cell.index[a]}, value, graph_.volume(cell.level));
  }
}

Halo<AmrId> AmrMergedSums::finish(const AmrGraph& graph, const Peak<AmrId>& peak, Index cells) const {
  const AmrGrid& grid = graph.geometry();
  const AmrCell at = grid.cell_of(peak.id);
  Halo<AmrId> halo{peak, cells};
  ExactSum mass, volume;
  for (const auto& [place, plane] : along(0)) {
    mass.add(plane.mass);
    volume.add_product(static_cast<double>(plane.cells), grid.volume(place.level));
  }
  halo.mass = mass.value();
  halo.volume = volume.value();
  for (std::size_t a = 0; a < static_cast<std::size_t>(grid.dimensions()); ++a) {
    const Index from = grid.middle(at.level, a, at.index[a]);
    const Index width = grid.length(at.level, a) / 2;
    ExactSum weighted, plain;
    halo.low[a] = -width;
    halo.high[a] = width;
    for (const auto& [place, plane] : along(a)) {
      const Index away = grid.difference(a, from, grid.middle(place.level, a, place.index));
      const Index half = grid.length(place.level, a) / 2;
      halo.low[a] = std::min(halo.low[a], away - half);
      halo.high[a] = std::max(halo.high[a], away + half);
      add_times(weighted, plane.mass, static_cast<double>(away));
      ExactSum space_here;
      space_here.add_product(static_cast<double>(plane.cells), grid.volume(place.level));
      add_times(plain, space_here, static_cast<double>(away));
    }
    halo.plain[a] = plain.value() / halo.volume;
    halo.weighted[a] = std::isfinite(halo.mass) && halo.mass != 0 ? weighted.value() / halo.mass
                                                                  : std::numeric_limits<double>::quiet_NaN();
  }
  return halo;
}

}  // namespace sidestream::halos
