// Sums over the cells of halos and of their parts on several levels.
#pragma once

#include <span>
#include <vector>

#include "cosmology/halos/amr/amr_grid.hpp"
#include "cosmology/halos/finder/halo.hpp"
#include "cosmology/halos/finder/plane_sums.hpp"

namespace sidestream::halos {

class AmrGraph;

/// The level and index along an axis that cells of a plane share.
struct AmrPlace {
  std::int32_t level = 0;
  Index index = 0;
  bool operator<(const AmrPlace& other) const noexcept {
    return level != other.level ? level < other.level : index < other.index;
  }
};

/// Sums by plane, of several parts.
class AmrMergedSums : public PlaneSums<AmrPlace> {
 public:
  [[nodiscard]] Halo<AmrId> finish(const AmrGraph& graph, const Peak<AmrId>& peak, Index cells) const;
};

/// Sums of a part.
class AmrPartSums : public AmrMergedSums {
 public:
  AmrPartSums(const AmrGraph& graph, const std::vector<AmrCell>&, std::span<const std::uint32_t>) : graph_(graph) {}
  void add(const AmrCell& cell, double value);

 protected:
  const AmrGraph& graph_;
};

/// Sums over the cells of a halo whose peak is known. They have the same bits as if its cells came from several parts.
class AmrHaloSums : public AmrPartSums {
 public:
  AmrHaloSums(const AmrGraph& graph, const Peak<AmrId>& peak) : AmrPartSums(graph, {}, {}), peak_(peak) {}
  void add(const AmrCell& cell, double value) {
    ++cells_;
    AmrPartSums::add(cell, value);
  }
  [[nodiscard]] Halo<AmrId> finish() const { return AmrMergedSums::finish(graph_, peak_, cells_); }

 private:
  Peak<AmrId> peak_;
  Index cells_ = 0;
};

}  // namespace sidestream::halos
