// Gauss-Lobatto-Legendre points: the quadrature of spectral elements.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace sidestream {

/// The points of an element of order N in [-1, 1], their quadrature weights, and the matrix that differentiates.
class SpectralRule {
 public:
  /// `order` is at least 1.
  explicit SpectralRule(int order);
  /// Number of points along an axis.
  [[nodiscard]] std::size_t points() const noexcept { return at_.size(); }
  [[nodiscard]] const std::vector<double>& at() const noexcept { return at_; }
  /// The volume of each point of an element: weight times the absolute value of the Jacobian. `place` has the
  /// positions of the points, the first axis fastest, an entry for each of `dimensions` axes. False if the Jacobian
  /// is not finite or changes its sign.
  [[nodiscard]] bool volumes(std::span<const double> place, int dimensions, std::span<double> out) const;

 private:
  [[nodiscard]] double slope(std::span<const double> place, std::size_t stride, std::size_t at, std::size_t along,
                             std::size_t step) const;
  std::vector<double> at_, weights_, slopes_;
};

}  // namespace sidestream
