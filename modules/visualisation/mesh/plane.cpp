#include "visualisation/mesh/plane.hpp"

#include <algorithm>

namespace sidestream {

PlaneSource::PlaneSource(const PointGrid& grid, const Plane& plane) : first_(grid.points().lo) {
  const Box all = grid.points();
  for (int a = 0; a < 3; ++a) {
    terms_[a].reserve(static_cast<std::size_t>(all.extent(a)));
    for (Index i = all.lo[a]; i < all.hi[a]; ++i) {
      terms_[a].push_back(plane.normal[a] * (grid.position(a, i) - plane.origin[a]));
    }
  }
  if (all.empty() || range(all)[0] < 0) return;
  for (auto& axis : terms_) {
    for (double& term : axis) term = -term;
  }
  reverse_ = false;
}

std::array<double, 2> PlaneSource::range(const Box& region) const {
  // Rounding is monotonic and each term is monotonic along its axis, so the extremes are at the ends, bit for bit.
  std::array<double, 3> low{}, high{};
  for (int a = 0; a < 3; ++a) {
    const double first = terms_[a][static_cast<std::size_t>(region.lo[a] - first_[a])];
    const double last = terms_[a][static_cast<std::size_t>(region.hi[a] - 1 - first_[a])];
    low[a] = std::min(first, last);
    high[a] = std::max(first, last);
  }
  return {low[0] + (low[1] + low[2]), high[0] + (high[1] + high[2])};
}

bool PlaneSource::may_cross(const Box& region) const {
  const auto [low, high] = range(region);
  return low < 0 && high >= 0;
}

void PlaneSource::fill(const Box& region, double* out) {
  for (Index k = region.lo[2]; k < region.hi[2]; ++k) {
    const double z = terms_[2][static_cast<std::size_t>(k - first_[2])];
    for (Index j = region.lo[1]; j < region.hi[1]; ++j) {
      const double yz = terms_[1][static_cast<std::size_t>(j - first_[1])] + z;
      const double* x = terms_[0].data() + (region.lo[0] - first_[0]);
      for (Index i = 0; i < region.extent(0); ++i) *out++ = x[i] + yz;
    }
  }
}

}  // namespace sidestream
