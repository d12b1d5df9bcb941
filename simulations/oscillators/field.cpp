#include "field.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace oscillators {

namespace {
constexpr double negligible = 1e-60;
}

double amplitude(const Oscillator& o, double time) {
  const double t = 2 * std::numbers::pi * time;
  if (o.kind == Kind::damped) {
    const double phi = std::acos(o.zeta);
    const double swing = std::sin(std::sqrt(1 - o.zeta * o.zeta) * o.omega0 * t + phi) / std::sin(phi);
    return 1 - std::exp(-o.zeta * o.omega0 * t) * swing;
  }
  const double later = t + 1 / o.omega0;  // keeps the decaying kind finite at time 0
  const double swing = std::sin(later / o.omega0);
  return o.kind == Kind::decaying ? swing / (o.omega0 * later) : swing;
}

Field::Field(const Grid& grid, const Box& points, const std::vector<Oscillator>& oscillators)
    : extents_{points.extent(0), points.extent(1), points.extent(2)},
      count_(oscillators.size()),
      row_(static_cast<std::size_t>(points.extent(0))) {
  for (int axis = 0; axis < 3; ++axis) {
    auto& factors = factors_[axis];
    factors.reserve(count_ * static_cast<std::size_t>(extents_[axis]));
    for (const Oscillator& o : oscillators) {
      for (std::int64_t index = points.lo[axis]; index < points.hi[axis]; ++index) {
        const double distance = grid.position(axis, index) - o.centre[axis];
        const double factor = std::exp(-(distance * distance) / (2 * o.radius * o.radius));
        factors.push_back(factor < negligible ? 0.0 : factor);
      }
    }
  }
}

// Computed in double also for float32 values, which are rounded once, at the end.
void Field::add_row(const std::vector<double>& amplitudes, std::int64_t j, std::int64_t k) {
  const auto n = static_cast<std::size_t>(extents_[0]);
  // Oscillators in the outer loop, points in the inner: each point adds its terms in the order of the input, and the
  // compiler can vectorise the inner loop without reordering.
  double* const sum = row_.data();
  std::fill(row_.begin(), row_.end(), 0.0);
  for (std::size_t o = 0; o < count_; ++o) {
    const double weight = amplitudes[o] * factors_[2][o * extents_[2] + k] * factors_[1][o * extents_[1] + j];
    if (weight == 0) continue;
    const double* const factor = &factors_[0][o * n];
    for (std::size_t i = 0; i < n; ++i) sum[i] += weight * factor[i];
  }
}

template <class T>
void Field::evaluate(const std::vector<double>& amplitudes, T* out) {
  for (std::int64_t k = 0; k < extents_[2]; ++k) {
    for (std::int64_t j = 0; j < extents_[1]; ++j) {
      add_row(amplitudes, j, k);
      for (const double value : row_) *out++ = static_cast<T>(value);
    }
  }
}

template void Field::evaluate(const std::vector<double>&, float*);
template void Field::evaluate(const std::vector<double>&, double*);

}  // namespace oscillators
