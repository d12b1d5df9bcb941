// The advected density, the flow, and the known solution.
#pragma once

#include <array>

#include "options.hpp"

namespace advection {

using Place = std::array<double, 3>;

/// A periodic square or cube of edge 1. At the start the shape's centre is in (0.3, 0.3, 0.3), or (0.5, 0.75, 0.5) for
/// a swirl. Its radius is 0.15; for a Gaussian 0.08, where it has fallen to exp(-1/2).
class Problem {
 public:
  explicit Problem(const Options& options) : options_(options) {}

  /// The exact density. For a swirl it is only known at the start and the end; between these the start's is returned.
  [[nodiscard]] double exact(const Place& place, double time) const;
  /// The velocity along `axis` at the start, through the face with opposite corners `low` and `high`. For a swirl a
  /// difference of its stream function, so that no cell has a source.
  [[nodiscard]] double through(const Place& low, const Place& high, std::size_t axis) const;
  /// The velocity at a time as a fraction of that at the start, the same everywhere.
  [[nodiscard]] double part(double time) const;
  /// An upper bound of the sum of the speeds along all axes, anywhere and at any time.
  [[nodiscard]] double fastest() const;

 private:
  Options options_;
};

}  // namespace advection
