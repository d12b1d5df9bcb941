#include "amr_codec/values/correction_fit.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "amr_codec/values/elements.hpp"

namespace sidestream::trees {

namespace {

/// Solves a symmetric positive semi-definite system by Gaussian elimination; undetermined unknowns become 0.
std::vector<double> solve(std::vector<std::vector<double>> matrix, std::vector<double> right) {
  const std::size_t size = right.size();
  for (std::size_t n = 0; n < size; ++n) {
    if (!(matrix[n][n] > 0)) {  // undetermined: the unknown becomes 0
      for (std::size_t row = 0; row < size; ++row) matrix[row][n] = matrix[n][row] = 0;
      matrix[n][n] = 1;
      right[n] = 0;
    }
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

namespace {

using Terms = std::array<double, CorrectionFit::width>;

// Keeps a row of the products in registers while groups are added.
SIDESTREAM_WIDE void add_products(const Terms* terms, const double* scales, std::size_t count, Terms* products) {
  for (std::size_t n = 0; n < CorrectionFit::width; ++n) {
    double row[CorrectionFit::width];
    std::copy_n(products[n].begin(), CorrectionFit::width, row);
    for (std::size_t g = 0; g < count; ++g) {
      const double scaled = scales[g] * terms[g][n];
      for (std::size_t m = 0; m < CorrectionFit::width; ++m) row[m] += scaled * terms[g][m];
    }
    std::copy_n(row, CorrectionFit::width, products[n].begin());
  }
}

}  // namespace

void CorrectionFit::end_tile(std::size_t count) noexcept {
  std::array<double, tile_groups> scales;
  std::size_t used = 0;
  for (std::size_t g = 0; g < count; ++g) {
    const Terms& terms = terms_[g];
    double square = 0, all = 0;
    for (std::size_t n = 0; n + 1 < children_; ++n) square += terms[n] * terms[n];
    for (const double term : terms) all += std::fabs(term);
    if (!std::isnormal(square) || !std::isfinite(all)) continue;
    scales[used] = 1 / square;
    terms_[used++] = terms;
  }
  add_products(terms_.data(), scales.data(), used, products_.data());
}

CorrectionWeights CorrectionFit::weights() const {
  CorrectionWeights weights{};
  for (std::size_t step = 0; step + 1 < children_; ++step) {
    std::vector<std::size_t> terms;
    each_correction(step, dimensions_, curved_, [&](std::size_t term) { terms.push_back(term); });
    std::vector<std::vector<double>> matrix(terms.size(), std::vector<double>(terms.size()));
    std::vector<double> right;
    for (std::size_t n = 0; n < terms.size(); ++n) {
      for (std::size_t m = 0; m < terms.size(); ++m) matrix[n][m] = products_[terms[n]][terms[m]];
      // A small ridge: two equal terms would make the system singular.
      matrix[n][n] *= 1.001;
      right.push_back(products_[terms[n]][step]);
    }
    const std::vector<double> found = solve(std::move(matrix), std::move(right));
    for (std::size_t n = 0; n < terms.size(); ++n) weights[step][terms[n]] = in_64ths(found[n]);
  }
  return weights;
}

}  // namespace sidestream::trees
