#include "visualisation/graphics/transfer_function.hpp"

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

TransferFunction::TransferFunction(std::span<const ExtinctionAt> given, const ColourMap& map, const ColourRange& range)
    : logarithmic_(range.is_logarithmic()) {
  std::vector<ExtinctionAt> points(given.begin(), given.end());
  for (ExtinctionAt& point : points) point.value = logarithmic_ ? std::log10(point.value) : point.value;
  const double low = logarithmic_ ? range.low_power : range.low, high = logarithmic_ ? range.high_power : range.high;
  low_ = points.front().value;
  scale_ = intervals / (points.back().value - points.front().value);
  // Position 0 stands for everything below the first value, and the last end for everything above the last one.
  const auto light_at = [&](double position) {
    const double value = low_ + std::clamp(position - 1, 0.0, static_cast<double>(intervals)) / scale_;
    const double extinction = extinction_of(points, value);
    const Colour colour = map.at((value - low) / (high - low));
    const auto emitted = [&](std::uint8_t channel) { return extinction * to_linear(channel) / 65535; };
    return Light{extinction, emitted(colour.red), emitted(colour.green), emitted(colour.blue)};
  };
  constexpr int parts = 8;  // for peaks that are narrower than an interval
  integral_.resize(ends + 1);
  for (int n = 0; n < ends; ++n) {
    Light sum = integral_[static_cast<std::size_t>(n)];
    for (int p = 0; p < parts; ++p) {
      const Light part = light_at(n + (p + 0.5) / parts);
      sum = {sum.extinction + part.extinction / parts, sum.red + part.red / parts, sum.green + part.green / parts,
             sum.blue + part.blue / parts};
    }
    integral_[static_cast<std::size_t>(n) + 1] = sum;
  }
  for (int n = 0; n <= ends; ++n) at_ends_.push_back(light_at(n));
}

}  // namespace sidestream::rendering
