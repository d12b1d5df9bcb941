#include "mesh/level_axes.hpp"

#include <algorithm>

namespace sidestream {

LevelAxes::LevelAxes(const Mesh& mesh, std::int32_t level)
    : axes_(*mesh.axes()),
      uniform_(dynamic_cast<const UniformGeometry*>(mesh.geometry.get())),
      ratio_(mesh.ratio_to(level)),
      cells_(mesh.cells_on(level)) {}

double LevelAxes::node(int axis, Index index) const {
  const auto a = static_cast<std::size_t>(axis);
  if (ratio_[a] == 1 || uniform_ == nullptr) return axes_.node(axis, index);
  return uniform_->origin()[a] + uniform_->spacing()[a] * (static_cast<double>(index) / static_cast<double>(ratio_[a]));
}

Index LevelAxes::cell_at(int axis, double x, Index near) const {
  const auto a = static_cast<std::size_t>(axis);
  Index low = cells_.lo[a], high = cells_.hi[a];
  const double first = node(axis, low), last = node(axis, high);
  const bool up = first <= last;
  const auto reached = [&](Index index) { return up ? node(axis, index) <= x : node(axis, index) >= x; };
  if (!(up ? x >= first && x <= last : x <= first && x >= last)) return low - 1;
  // Places mostly come one beside the other.
  for (Index cell = std::max(near, low); cell < std::min(near + 2, high - 1); ++cell) {
    if (reached(cell) && !reached(cell + 1)) return cell;
  }
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (reached(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace sidestream
