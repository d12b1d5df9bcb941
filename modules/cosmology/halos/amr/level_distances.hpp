// Distances of cells on several levels from a halo.
#pragma once

#include <array>
#include <vector>

#include "cosmology/halos/amr/amr_grid.hpp"

namespace sidestream::halos {

/// An index along an axis, and the square of the distance along that axis.
struct NearPlace {
  Index place = 0;
  double squared = 0;
};

/// Squared distances of cells' middles from one point, in units of coordinates, the shortest along periodic axes. The
/// same bits wherever they are computed. Keeps a reference to the levels.
class LevelDistances {
 public:
  /// The point lies `offset` half steps from the middle of the cell. `most`: square of the distance beyond which
  /// nothing is near.
  LevelDistances(const AmrGrid& levels, const LevelCell& cell, const std::array<double, 3>& offset, double most);

  [[nodiscard]] double most() const noexcept { return most_; }
  /// Squared distance along one axis, for cells with an index on a level.
  [[nodiscard]] double squared(std::size_t axis, std::int32_t level, Index index) const;
  [[nodiscard]] double squared(const LevelCell& cell) const {
    return squared(0, cell.level, cell.index[0]) + squared(1, cell.level, cell.index[1]) +
           squared(2, cell.level, cell.index[2]);
  }
  /// Indices in [low, high) on a level that are near along this axis.
  [[nodiscard]] std::vector<NearPlace> near(std::size_t axis, std::int32_t level, Index low, Index high) const;
  /// True if some point in the cell may be near.
  [[nodiscard]] bool may_be_near(const LevelCell& cell) const;

 private:
  const AmrGrid& levels_;
  Index3 from_{};  ///< in half steps
  std::array<double, 3> offset_;
  double most_;
};

}  // namespace sidestream::halos
