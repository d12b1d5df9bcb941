// A number about a variable that servers know of an iteration.
#pragma once

#include <cstdint>

namespace sidestream {

/// Of one component of a variable, over all points that count, NaN and infinite values left out.
struct Statistic {
  enum class What { minimum, maximum, mean, sum };
  What what = What::minimum;
  std::int32_t variable = -1, component = 0;
  bool operator==(const Statistic&) const = default;
};

}  // namespace sidestream
