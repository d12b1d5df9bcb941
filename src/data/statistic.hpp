// Statistics of a variable that servers know about an iteration.
#pragma once

#include <cstdint>

namespace sidestream {

/// A statistic of one component of a variable, over all points that count, without NaN and infinite values.
struct Statistic {
  enum class What { minimum, maximum, mean, sum };
  What what = What::minimum;
  std::int32_t variable = -1, component = 0;
  bool operator==(const Statistic&) const = default;
};

}  // namespace sidestream
