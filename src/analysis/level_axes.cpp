#include "analysis/level_axes.hpp"

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

Index LevelAxes::cell_at(int axis, double x) const {
  const auto a = static_cast<std::size_t>(axis);
  Index low = cells_.lo[a], high = cells_.hi[a];
  const double first = node(axis, low), last = node(axis, high);
  const bool up = first <= last;
  if (!(up ? x >= first && x <= last : x <= first && x >= last)) return low - 1;
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (up ? node(axis, middle) <= x : node(axis, middle) >= x) ? low = middle : high = middle;
  }
  return low;
}

}  // namespace sidestream
