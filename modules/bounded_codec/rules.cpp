#include "bounded_codec/rules.hpp"

#include <cmath>

namespace sidestream::bounded {

namespace {

constexpr std::uint64_t most_samples = 800;

/// Errors of one axis at one level, in steps.
struct AxisErrors {
  std::uint64_t samples = 0;
  double linear = 0, cubic = 0;            ///< expected bits, up to a constant
  double linear_size = 0, cubic_size = 0;  ///< sums of absolute errors
};

double prediction_error(const std::int64_t* at, const AxisTaps& taps, double step, bool& known) {
  double sum = 0;
  known = *at != no_number;
  for (int n = 0; n < taps.count; ++n) {
    const Tap& tap = taps.taps[static_cast<std::size_t>(n)];
    known = known && at[tap.offset] != no_number;
    sum += static_cast<double>(at[tap.offset]) * static_cast<double>(tap.factor);
  }
  return std::fabs(static_cast<double>(*at) - sum / 16) / step;
}

/// Adds the errors of one point; none if a value has no number.
void add_errors(const std::int64_t* at, std::uint64_t place, std::uint64_t extent, std::uint64_t spacing,
                std::uint64_t stride, double step, AxisErrors& errors) {
  bool known = false, also_known = false;
  const double linear = prediction_error(at, axis_taps(place, extent, spacing, stride, false), step, known);
  const double cubic = prediction_error(at, axis_taps(place, extent, spacing, stride, true), step, also_known);
  if (!known || !also_known) return;
  ++errors.samples;
  errors.linear += std::log2(1 + linear);
  errors.cubic += std::log2(1 + cubic);
  errors.linear_size += linear;
  errors.cubic_size += cubic;
}

/// Samples points of a box whose coordinate along `axis` is odd at this level.
AxisErrors errors_of(const Extents& extents, const BoxMemory& memory, std::size_t axis, int level, double step) {
  const std::uint64_t spacing = std::uint64_t{1} << level;
  const Extents strides{1, extents[0], extents[0] * extents[1]};
  AxisErrors errors;
  if (extents[axis] <= spacing) return errors;
  Extents counts{};
  for (std::size_t a = 0; a < 3; ++a) {
    counts[a] = a == axis ? (extents[a] + spacing - 1) / (2 * spacing) : (extents[a] - 1) / spacing + 1;
  }
  const std::uint64_t all = counts[0] * counts[1] * counts[2];
  // An odd step does not fall in with extents, which are often even.
  const std::uint64_t apart = all / most_samples / 2 * 2 + 1;
  for (std::uint64_t n = 0; n < all; n += apart) {
    Extents at{n % counts[0], n / counts[0] % counts[1], n / counts[0] / counts[1]};
    for (std::size_t a = 0; a < 3; ++a) at[a] = a == axis ? (2 * at[a] + 1) * spacing : at[a] * spacing;
    const std::uint64_t point = at[0] + at[1] * strides[1] + at[2] * strides[2];
    add_errors(memory.numbers.data() + point, at[axis], extents[axis], spacing, strides[axis], step, errors);
  }
  return errors;
}

/// Chooses the taps of an axis; returns its weight before scaling.
double choose_axis(const AxisErrors& errors, AxisRule& rule) {
  constexpr double noise = 0.05;  // of the bounded errors of neighbours
  const auto count = static_cast<double>(errors.samples);
  rule.cubic = errors.cubic <= errors.linear + 0.01 * count;
  const double size = (rule.cubic ? errors.cubic_size : errors.linear_size) / count;
  return 1 / (size * size + noise);
}

}  // namespace

void choose_rules(const Extents& extents, const BoxMemory& memory, BoxHead& head) {
  const int levels = std::min(levels_of(extents), ruled_levels);
  for (int level = 0; level < levels; ++level) {
    LevelRule& rule = head.rules[static_cast<std::size_t>(level)];
    std::array<double, 3> weights{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const AxisErrors errors = errors_of(extents, memory, axis, level, static_cast<double>(head.lattice.step));
      if (errors.samples > 0) weights[axis] = choose_axis(errors, rule.axes[axis]);
    }
    const double most = std::max({weights[0], weights[1], weights[2]});
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (weights[axis] <= 0) continue;
      rule.axes[axis].weight = static_cast<std::uint8_t>(std::max(1.0, std::floor(63 * weights[axis] / most)));
    }
  }
}

}  // namespace sidestream::bounded
