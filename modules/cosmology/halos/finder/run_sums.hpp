// Sums over the cells of halos and of their parts on a uniform mesh of one level.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "cosmology/halos/finder/box_runs.hpp"
#include "cosmology/halos/finder/halo.hpp"
#include "cosmology/halos/finder/plane_sums.hpp"

namespace sidestream::halos {

class RunGraph;

/// Sums over the cells of a halo whose peak is known. They are exact, so that the order of cells does not matter.
class RunHaloSums {
 public:
  RunHaloSums(const RunGraph& graph, const Peak<Index>& peak);
  void add(const Index3& cell, double value) noexcept;
  /// Adds the cells of a part with one index along an axis. Each cell is added along each axis; masses are added along
  /// the first axis only.
  void add_plane(std::size_t axis, Index place, const Plane& plane) noexcept;
  [[nodiscard]] Halo<Index> finish() const noexcept;

 private:
  void reach(std::size_t axis, Index difference) noexcept;

  const Lattice& lattice_;
  Peak<Index> peak_;
  Index3 at_;
  Index cells_ = 0;
  ExactSum mass_;
  std::array<ExactSum, 3> weighted_;
  Index3 plain_{}, low_{}, high_{};
};

/// Sums of a part, for each index along each axis between the first and the last.
class RunPartSums {
 public:
  /// `members`: the runs of the part.
  RunPartSums(const RunGraph& graph, const std::vector<Run>& runs, std::span<const std::uint32_t> members);
  void add(const Index3& cell, double value) noexcept;
  void write(ByteWriter& out) const;

 private:
  Index3 low_{};
  std::array<std::vector<Plane>, 3> planes_;
};

/// Merged sums of several parts.
class RunMergedSums : public PlaneSums<Index> {
 public:
  [[nodiscard]] Halo<Index> finish(const RunGraph& graph, const Peak<Index>& peak, Index cells) const;
};

}  // namespace sidestream::halos
