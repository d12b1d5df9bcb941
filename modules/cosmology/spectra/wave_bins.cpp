#include "cosmology/spectra/wave_bins.hpp"

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
    // 11 (12/11) must be exactly 12, whatever the rounding, because whole modes lie on this edge.
    if (j < 2) edge = 11 + j;
    if (edge > nyquist) break;
    edges.push_back(edge);
  }
  if (edges.empty()) edges.push_back(1);
  return WaveBins(std::move(edges));
}

void WindowSum::flush(ExactSum& behind) noexcept {
  // Pieces of 32 bits are exact doubles; the last one has the sign.
  for (int piece = 0; piece < 4; ++piece) {
    const Wide rest = sum_ >> 32 * piece;
    const auto part = piece < 3 ? static_cast<double>(static_cast<std::uint32_t>(rest))
                                : static_cast<double>(static_cast<std::int64_t>(rest));
    if (part != 0) behind.add(std::ldexp(part, 32 * piece + static_cast<int>(lowest_) - 1075));
  }
  sum_ = 0;
  left_ = 0;
}

void WindowSum::add_other(double x, ExactSum& behind) noexcept {
  // This many mantissas of 53 bits, shifted by up to 63, fit into 127 bits.
  constexpr std::uint32_t most = 1 << 10;
  // Keeps all sums of the window, and its unit, within the range of doubles.
  constexpr std::uint32_t highest = 1023 + 1075 - 126;
  const auto exponent = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ff);
  if (exponent == 0 || exponent >= highest + window) return behind.add(x);
  flush(behind);
  lowest_ = std::clamp<std::uint32_t>(exponent > window / 2 ? exponent - window / 2 : 1, 1, highest);
  left_ = most;
  add(x, behind);
}

}  // namespace sidestream::spectra
