#include "graphics/transfer_function.hpp"

#include <algorithm>

namespace sidestream::rendering {
namespace {

double extinction_of(std::span<const ExtinctionAt> points, double value) {
  const auto above = std::upper_bound(points.begin(), points.end(), value,
                                      [](double v, const ExtinctionAt& point) { return v < point.value; });
  if (above == points.begin()) return points.front().extinction;
  if (above == points.end()) return points.back().extinction;
  const ExtinctionAt &a = *(above - 1), &b = *above;
  return a.extinction + (value - a.value) / (b.value - a.value) * (b.extinction - a.extinction);
}

}  // namespace

TransferFunction::TransferFunction(std::span<const ExtinctionAt> points, const ColourMap& map, const ColourRange& range)
    : low_(points.front().value), scale_(intervals / (points.back().value - points.front().value)) {
  constexpr int parts = 8;  // for peaks that are narrower than an interval
  integral_.resize(intervals + 3);
  for (int n = 0; n < intervals + 2; ++n) {
    Light sum;
    for (int p = 0; p < parts; ++p) {
      const double inside = std::clamp(n - 1 + (p + 0.5) / parts, 0.0, static_cast<double>(intervals));
      const double value = low_ + inside / scale_;
      const double extinction = extinction_of(points, value) / parts;
      const Colour colour = map.at(range.fraction(value));
      sum.extinction += extinction;
      sum.red += extinction * to_linear(colour.red) / 65535;
      sum.green += extinction * to_linear(colour.green) / 65535;
      sum.blue += extinction * to_linear(colour.blue) / 65535;
    }
    const Light& before = integral_[static_cast<std::size_t>(n)];
    integral_[static_cast<std::size_t>(n) + 1] = {before.extinction + sum.extinction, before.red + sum.red,
                                                  before.green + sum.green, before.blue + sum.blue};
  }
}

}  // namespace sidestream::rendering
