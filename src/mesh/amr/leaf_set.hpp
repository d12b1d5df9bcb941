// Cells that count, with their values.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/records.hpp"
#include "data/octree.hpp"

namespace sidestream {

/// Cells that count, and numbers in them. They are leaves of trees that a block owns, or cells of patches that no finer
/// level covers. Surfaces of column 0 are wanted; the other columns are interpolated on them. An empty column is NaN
/// everywhere.
struct LeafSet {
  std::vector<TreeCell> cells;
  std::vector<std::vector<double>> columns;

  [[nodiscard]] double at(std::size_t column, std::size_t leaf) const noexcept {
    const std::vector<double>& values = columns[column];
    return values.empty() ? std::numeric_limits<double>::quiet_NaN() : values[leaf];
  }
};

/// A cell of the dual mesh: one around each corner at which leaves meet. Its points are the centres of the leaves
/// around the corner, 2 on each side of each axis that the mesh uses, lower ones first and x fastest; a leaf on both
/// sides is repeated. Such cells share whole faces with their neighbours, whatever the levels, so that surfaces are
/// closed across levels (Ju, Losasso, Schaefer and Warren, "Dual contouring of hermite data", 2002; Schaefer and
/// Warren, "Dual marching cubes", 2004).
using DualCell = std::array<std::int64_t, 8>;  ///< numbers of leaves; 4 are used in two dimensions

/// True if one of some values lies between the least and the greatest of numbers, in the sense of surfaces: some are
/// below it, some are not.
[[nodiscard]] inline bool any_between(std::span<const double> values, double low, double high) noexcept {
  for (const double value : values) {
    if (low < value && high >= value) return true;
  }
  return false;
}

}  // namespace sidestream
