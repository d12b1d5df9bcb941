// One publication of all data.
#pragma once

#include <cstdint>

namespace sidestream {

/// `index` counts publications from 0; `cycle` and `time` are the simulation's own and may repeat.
struct Iteration {
  std::int64_t index = 0;
  std::int64_t cycle = 0;
  double time = 0;
};

}  // namespace sidestream
