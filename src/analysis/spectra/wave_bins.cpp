#include "analysis/spectra/wave_bins.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sidestream::spectra {

double WaveBox::fundamental() const noexcept {
  double longest = 0;
  for (std::size_t a = 0; a < 3; ++a) longest = points[a] > 1 ? std::max(longest, lengths[a]) : longest;
  return longest > 0 ? 2 * std::numbers::pi / longest : 0;
}

double WaveBox::ratio(int axis) const noexcept {
  double longest = 0;
  for (std::size_t a = 0; a < 3; ++a) longest = points[a] > 1 ? std::max(longest, lengths[a]) : longest;
  const auto a = static_cast<std::size_t>(axis);
  return points[a] > 1 ? longest / lengths[a] : 0;
}

double WaveBox::nyquist() const noexcept {
  double least = -1;
  for (int a = 0; a < 3; ++a) {
    const Index n = points[static_cast<std::size_t>(a)];
    const double here = 0.5 * static_cast<double>(n) * ratio(a);
    if (n > 1 && (least < 0 || here < least)) least = here;
  }
  return std::max(0.0, least);
}

double WaveBox::volume() const noexcept {
  double product = 1;
  for (std::size_t a = 0; a < 3; ++a) product *= points[a] > 1 ? lengths[a] : 1;
  return product;
}

double WaveBox::count() const noexcept {
  double product = 1;
  for (const Index n : points) product *= static_cast<double>(n);
  return product;
}

int WaveBox::dimensions() const noexcept {
  return static_cast<int>(std::count_if(points.begin(), points.end(), [](Index n) { return n > 1; }));
}

WaveBins::WaveBins(std::vector<double> edges) : edges_(std::move(edges)) {
  for (const double edge : edges_) squares_.push_back(edge * edge);
}

WaveBins WaveBins::shells(double nyquist) {
  std::vector<double> edges{0.5};
  for (double s = 1; s <= std::floor(nyquist); ++s) edges.push_back(s + 0.5);
  return WaveBins(std::move(edges));
}

WaveBins WaveBins::widening(double nyquist) {
  std::vector<double> edges;
  for (int n = 1; n <= 10 && n <= nyquist; ++n) edges.push_back(n);
  for (int j = 0;; ++j) {
    double edge = 11 * std::pow(12.0 / 11.0, j);
    // 11 (12/11) is 12, whatever rounding makes of it: whole modes lie on it.
    if (j < 2) edge = 11 + j;
    if (edge > nyquist) break;
    edges.push_back(edge);
  }
  if (edges.empty()) edges.push_back(1);
  return WaveBins(std::move(edges));
}

}  // namespace sidestream::spectra
