#include "storage/trees/sibling_fit.hpp"

#include <algorithm>
#include <cmath>

namespace sidestream::trees {

namespace {

using Matrix = std::array<std::array<double, 8>, 8>;

/// Solves the first `size` equations of a symmetric matrix with nothing negative in its diagonal, by Gauss; what it
/// can't say becomes 0.
std::array<double, 8> solve(Matrix matrix, std::array<double, 8> right, std::size_t size) {
  for (std::size_t n = 0; n < size; ++n) {
    if (!(matrix[n][n] > 0)) return {};
    for (std::size_t row = n + 1; row < size; ++row) {
      const double share = matrix[row][n] / matrix[n][n];
      for (std::size_t column = n; column < size; ++column) matrix[row][column] -= share * matrix[n][column];
      right[row] -= share * right[n];
    }
  }
  for (std::size_t n = size; n-- > 0;) {
    for (std::size_t column = n + 1; column < size; ++column) right[n] -= matrix[n][column] * right[column];
    right[n] /= matrix[n][n];
  }
  return right;
}

std::int8_t in_64ths(double weight) {
  return std::isfinite(weight) ? static_cast<std::int8_t>(std::lround(std::clamp(64 * weight, -127.0, 127.0)))
                               : std::int8_t{0};
}

}  // namespace

void SiblingFit::end_tile(std::size_t count) noexcept {
  for (std::size_t g = 0; g < count; ++g) {
    double square = 0;
    for (std::size_t n = 0; n + 1 < sons_; ++n) square += left_[n][g] * left_[n][g];
    if (!std::isnormal(square)) continue;
    const double scale = 1 / square;
    for (std::size_t n = 0; n + 1 < sons_; ++n) {
      for (std::size_t m = 0; m <= n; ++m) products_[n][m] += scale * left_[n][g] * left_[m][g];
    }
  }
}

SiblingWeights SiblingFit::weights() const {
  SiblingWeights weights{};
  Matrix matrix = products_;
  for (std::size_t n = 0; n < sons_; ++n) {
    for (std::size_t m = 0; m < n; ++m) matrix[m][n] = matrix[n][m];
  }
  // A little larger than it is, so that two siblings which are the same do not cancel each other.
  for (std::size_t n = 0; n < sons_; ++n) matrix[n][n] *= 1.001;
  for (std::size_t step = 2; step + 1 < sons_; ++step) {
    const std::array<double, 8> found = solve(matrix, products_[step], step);
    for (std::size_t other = 0; other < step; ++other) weights[step][other] = in_64ths(found[other]);
  }
  return weights;
}

}  // namespace sidestream::trees
