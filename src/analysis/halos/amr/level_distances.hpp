// How far cells of several levels are from a halo.
#pragma once

#include <array>
#include <vector>

#include "analysis/halos/amr/amr_grid.hpp"

namespace sidestream::halos {

/// A place along an axis, and the square of how far it is along that axis.
struct NearPlace {
  Index place = 0;
  double squared = 0;
};

/// Distances of the middles of cells from one point, the short way round along periodic axes, as lengths in coordinates
/// and squared. The same bits wherever they are computed. Keeps a reference to the levels.
class LevelDistances {
 public:
  /// From the middle of a cell, and so many half steps above it. `most`: the square of what is not near any more.
  LevelDistances(const AmrGrid& levels, const LevelCell& cell, const std::array<double, 3>& offset, double most);

  [[nodiscard]] double most() const noexcept { return most_; }
  /// Along an axis, of the cells with an index on a level.
  [[nodiscard]] double squared(std::size_t axis, std::int32_t level, Index index) const;
  [[nodiscard]] double squared(const LevelCell& cell) const {
    return squared(0, cell.level, cell.index[0]) + squared(1, cell.level, cell.index[1]) +
           squared(2, cell.level, cell.index[2]);
  }
  /// The places of [low, high) on a level that are not too far away along this axis alone.
  [[nodiscard]] std::vector<NearPlace> near(std::size_t axis, std::int32_t level, Index low, Index high) const;
  /// Whether some point in the cell may be near.
  [[nodiscard]] bool may_be_near(const LevelCell& cell) const;

 private:
  const AmrGrid& levels_;
  Index3 from_{};  ///< in half steps
  std::array<double, 3> offset_;
  double most_;
};

}  // namespace sidestream::halos
