// Wall-clock time for measurements.
#pragma once

#include <chrono>

namespace sidestream {

using Clock = std::chrono::steady_clock;

/// Seconds since an arbitrary but fixed moment of this machine.
[[nodiscard]] inline double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

}  // namespace sidestream
