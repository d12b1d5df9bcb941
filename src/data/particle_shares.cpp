#include "sidestream/kit/data/particle_shares.hpp"

#include <algorithm>
#include <cmath>

namespace sidestream {

bool shares_along(const ShareAxis& axis, Assignment assignment, double x, AxisShares& shares) noexcept {
  const Index n = axis.cells;
  const auto cells = static_cast<double>(n);
  double u = (x - axis.low) / (axis.high - axis.low) * cells;
  if (!std::isfinite(u)) return false;
  if (axis.periodic) {
    u -= cells * std::floor(u / cells);
    if (u >= cells) u = 0;
  } else if (!(x >= std::min(axis.low, axis.high) && x <= std::max(axis.low, axis.high))) {
    return false;
  }
  const auto place = [&](Index cell) {
    if (axis.periodic) return (cell % n + n) % n;
    return std::clamp<Index>(cell, 0, n - 1);
  };
  if (assignment == Assignment::nearest) {
    shares = {{place(static_cast<Index>(std::floor(u)))}, {1}, 1};
  } else if (assignment == Assignment::cloud) {
    const double lower = std::floor(u - 0.5), part = u - 0.5 - lower;
    const auto first = static_cast<Index>(lower);
    shares = {{place(first), place(first + 1)}, {1 - part, part}, 2};
  } else {
    const double middle = std::floor(u), off = u - middle - 0.5;
    const auto at = static_cast<Index>(middle);
    const double before = 0.5 * (0.5 - off) * (0.5 - off), behind = 0.5 * (0.5 + off) * (0.5 + off);
    shares = {{place(at - 1), place(at), place(at + 1)}, {before, 0.75 - off * off, behind}, 3};
  }
  return true;
}

}  // namespace sidestream
