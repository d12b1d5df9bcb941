// Directions of length 1.
#pragma once

#include <array>
#include <cmath>

namespace sidestream {

/// Makes `n` one long; false if it has no direction.
[[nodiscard]] inline bool normalise(std::array<double, 3>& n) noexcept {
  const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  if (!(length > 0) || !std::isfinite(length)) return false;
  const double inverse = 1 / length;
  if (!std::isfinite(inverse)) {
    n = {n[0] / length, n[1] / length, n[2] / length};
  } else {
    n = {n[0] * inverse, n[1] * inverse, n[2] * inverse};
  }
  return true;
}

}  // namespace sidestream
