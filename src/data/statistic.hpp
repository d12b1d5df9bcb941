// Statistics of a variable that servers compute for conditions in an iteration.
#pragma once

#include <cstdint>

namespace sidestream {

/// A statistic of one component of a variable, over all points that count, without NaN and infinite values.
struct Statistic {
  enum class What { minimum, maximum, mean, sum, nan, infinite, quantile, entropy, at_max, at_min };
  What what = What::minimum;
  std::int32_t variable = -1, component = 0;
  /// `quantile`: fraction of values that are at most as large; `entropy`: number of intervals; `at_max` and `at_min`:
  /// axis.
  double parameter = 0;
  bool operator==(const Statistic&) const = default;
};

/// The largest number of intervals of an entropy.
constexpr int most_entropy_bins = 65536;

}  // namespace sidestream
