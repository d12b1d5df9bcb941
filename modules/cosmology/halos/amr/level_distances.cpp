#include "cosmology/halos/amr/level_distances.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sidestream::halos {

LevelDistances::LevelDistances(const AmrGrid& levels, const LevelCell& cell, const std::array<double, 3>& offset,
                               double most)
    : levels_(levels), offset_(offset), most_(most) {
  for (std::size_t a = 0; a < 3; ++a) from_[a] = levels.middle(cell.level, a, cell.index[a]);
}

double LevelDistances::squared(std::size_t axis, std::int32_t level, Index index) const {
  if (axis >= static_cast<std::size_t>(levels_.dimensions())) return 0;
  const auto away = static_cast<double>(levels_.difference(axis, from_[axis], levels_.middle(level, axis, index)));
  const double length = levels_.in_coordinates(axis, levels_.wrapped(axis, away - offset_[axis]));
  return length * length;
}

std::vector<NearPlace> LevelDistances::near(std::size_t axis, std::int32_t level, Index low, Index high) const {
  std::vector<NearPlace> places;
  for (Index p = low; p < high; ++p) {
    const double away = squared(axis, level, p);
    if (away < most_) places.push_back({p, away});
  }
  return places;
}

bool LevelDistances::may_be_near(const LevelCell& cell) const {
  double least = 0;
  for (std::size_t a = 0; a < static_cast<std::size_t>(levels_.dimensions()); ++a) {
    const auto width = static_cast<double>(levels_.length(cell.level, a));
    const double low = static_cast<double>(levels_.length(cell.level, a) * cell.index[a] - from_[a]) - offset_[a];
    const auto n = static_cast<double>(levels_.length_of_mesh(a));
    double nearest = std::numeric_limits<double>::infinity();
    for (const double turn : {0.0, -n, n}) {
      if (turn != 0 && !levels_.mesh().periodic[a]) continue;
      nearest = std::min(nearest, std::max({0.0, low + turn, -(low + turn + width)}));
    }
    const double length = levels_.in_coordinates(a, nearest);
    least += length * length;
  }
  return least * (1 - 1e-9) < most_;  // the margin keeps rounding from excluding cells
}

}  // namespace sidestream::halos
