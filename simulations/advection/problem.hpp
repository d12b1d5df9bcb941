// What is carried along, by what, and what is known of it.
#pragma once

#include <array>

#include "options.hpp"

namespace advection {

using Place = std::array<double, 3>;

/// A periodic square or cube of edge 1. The shape's middle is at the start in (0.3, 0.3, 0.3), or (0.5, 0.75, 0.5) in a
/// swirl; its radius is 0.15, that of a Gaussian (0.08) where it has fallen to exp(-1/2).
class Problem {
 public:
  explicit Problem(const Options& options) : options_(options) {}

  /// The density as it should be. Of a swirl known at the start and the end alone, and the start's in between.
  [[nodiscard]] double exact(const Place& place, double time) const;
  /// The velocity along `axis` through the face between `low` and `high`, opposite corners of it, at the start: of a
  /// swirl a difference of its stream function, so that no cell has a source.
  [[nodiscard]] double through(const Place& low, const Place& high, std::size_t axis) const;
  /// What the velocity at a time is, everywhere, of that at the start.
  [[nodiscard]] double part(double time) const;
  /// A bound of the sum over the axes of the speeds along them, anywhere and at any time.
  [[nodiscard]] double fastest() const;

 private:
  Options options_;
};

}  // namespace advection
