// Leaves with their values, and dual cells.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/octree.hpp"

namespace sidestream {

/// Leaves: owned leaves of trees, or cells of patches that no finer level covers. Column 0 has the values from which
/// surfaces are made; other columns have further fields. An empty column is NaN everywhere.
struct LeafSet {
  std::vector<TreeCell> cells;
  std::vector<std::vector<double>> columns;

  [[nodiscard]] double at(std::size_t column, std::size_t leaf) const noexcept {
    const std::vector<double>& values = columns[column];
    return values.empty() ? std::numeric_limits<double>::quiet_NaN() : values[leaf];
  }
};

/// A cell of the dual mesh. There is one for each corner at which leaves meet. Its points are the centres of the leaves
/// around the corner, two along each used axis, lower ones first, x fastest. A leaf on both sides of an axis occurs
/// several times. Dual cells share whole faces with their neighbours across levels, so that surfaces are closed at
/// borders of levels (Ju, Losasso, Schaefer and Warren, "Dual contouring of hermite data", 2002; Schaefer and Warren,
/// "Dual marching cubes", 2004).
using DualCell = std::array<std::int64_t, 8>;  ///< numbers of leaves; 4 are used in two dimensions

/// True if one of the values is in (low, high], the interval in which surfaces count a value as crossed.
[[nodiscard]] inline bool any_between(std::span<const double> values, double low, double high) noexcept {
  for (const double value : values) {
    if (low < value && high >= value) return true;
  }
  return false;
}

}  // namespace sidestream
