// Points, weights and derivatives of Gauss-Lobatto-Legendre quadrature.
//
// The inner points of order N are the zeros of P'_N, found by Newton's method from the Chebyshev points; with L = P_N
// at the points, the weights are 2 / (N (N + 1) L^2), and the derivative of the polynomial through the values has the
// matrix L_i / (L_j (x_i - x_j)) (Canuto et al., Spectral Methods, 2006).
#include "client/spectral_rule.hpp"

#include <cmath>
#include <numbers>

namespace sidestream {

namespace {

/// Values of the Legendre polynomials of degrees N and N - 1.
std::array<double, 2> legendre(int order, double x) {
  double before = 1, now = x;
  for (int n = 2; n <= order; ++n) {
    const double next = ((2 * n - 1) * x * now - (n - 1) * before) / n;
    before = now;
    now = next;
  }
  return {now, before};
}

/// A zero of P'_N near `x`. With q = (1 - x^2) P'_N = N (P_(N-1) - x P_N), q' is -N (N + 1) P_N.
double inner_point(int order, double x) {
  constexpr int enough = 50;
  for (int step = 0; step < enough; ++step) {
    const auto [now, before] = legendre(order, x);
    const double change = (before - x * now) / ((order + 1) * now);
    x += change;
    if (std::abs(change) < 1e-15) break;
  }
  return x;
}

}  // namespace

SpectralRule::SpectralRule(int order) {
  const auto n = static_cast<std::size_t>(order) + 1;
  at_.resize(n);
  at_.front() = -1;
  at_.back() = 1;
  // Points are antisymmetric, exactly.
  for (std::size_t i = 1; i < n / 2; ++i) {
    at_[i] = inner_point(order, -std::cos(std::numbers::pi * static_cast<double>(i) / order));
    at_[n - 1 - i] = -at_[i];
  }
  if (n % 2 == 1) at_[n / 2] = 0;
  std::vector<double> value(n);
  for (std::size_t i = 0; i < n; ++i) value[i] = legendre(order, at_[i])[0];
  const double pairs = static_cast<double>(order) * (order + 1);
  for (std::size_t i = 0; i < n; ++i) weights_.push_back(2 / (pairs * value[i] * value[i]));
  slopes_.assign(n * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      if (i != j) slopes_[i * n + j] = value[i] / (value[j] * (at_[i] - at_[j]));
    }
  }
  slopes_.front() = -pairs / 4;
  slopes_.back() = pairs / 4;
}

/// The derivative of a coordinate along one axis of the element at index `along` of the line through `at`, whose points
/// are `step` apart. `stride`: numbers for each point.
double SpectralRule::slope(std::span<const double> place, std::size_t stride, std::size_t at, std::size_t along,
                           std::size_t step) const {
  const std::size_t n = points();
  double sum = 0;
  for (std::size_t j = 0; j < n; ++j) sum += slopes_[along * n + j] * place[stride * (at + j * step)];
  return sum;
}

namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

double determinant(const Matrix& m, int dimensions) {
  if (dimensions == 1) return m[0][0];
  if (dimensions == 2) return m[0][0] * m[1][1] - m[0][1] * m[1][0];
  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

}  // namespace

bool SpectralRule::volumes(std::span<const double> place, int dimensions, std::span<double> out) const {
  const std::size_t n = points();
  const auto axes = static_cast<std::size_t>(dimensions);
  const std::array<std::size_t, 3> steps{1, n, n * n};
  double sign = 0;
  for (std::size_t point = 0; point < out.size(); ++point) {
    Matrix jacobian{};
    double weight = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::size_t along = point / steps[axis] % n;
      weight *= weights_[along];
      for (std::size_t c = 0; c < axes; ++c) {
        jacobian[axis][c] = slope(place.subspan(c), axes, point - along * steps[axis], along, steps[axis]);
      }
    }
    const double size = determinant(jacobian, dimensions);
    if (!std::isfinite(size) || size * sign < 0) return false;
    if (size != 0) sign = size > 0 ? 1 : -1;
    out[point] = weight * std::abs(size);
  }
  return true;
}

}  // namespace sidestream
