// What became of an iteration, where several groups of servers decide on it.
#pragma once

#include <algorithm>

#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Delivered is what all have delivered; else what the worst says: lost, refused, failed. Pending until all have
/// decided.
[[nodiscard]] constexpr Outcome joined(Outcome one, Outcome other) noexcept {
  if (one == Outcome::pending || other == Outcome::pending) return Outcome::pending;
  constexpr auto badness = [](Outcome outcome) {
    switch (outcome) {
      case Outcome::lost:
        return 3;
      case Outcome::refused:
        return 2;
      case Outcome::failed:
        return 1;
      default:
        return 0;
    }
  };
  return badness(one) < badness(other) ? other : one;
}

}  // namespace sidestream
