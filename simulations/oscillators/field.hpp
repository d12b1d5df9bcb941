// The field of the oscillators: the formula, and its evaluation on a box of points.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace oscillators {

using Index3 = std::array<std::int64_t, 3>;

/// Indices lo <= x < hi on each axis, in (i, j, k).
struct Box {
  Index3 lo{0, 0, 0};
  Index3 hi{0, 0, 0};
  [[nodiscard]] std::int64_t extent(int axis) const { return hi[axis] - lo[axis]; }
  [[nodiscard]] std::int64_t count() const { return extent(0) * extent(1) * extent(2); }
};

enum class Kind { damped, decaying, periodic };

/// One source, in the domain's units of length and time.
struct Oscillator {
  Kind kind = Kind::periodic;
  std::array<double, 3> centre{0, 0, 0};
  double radius = 0;  ///< standard deviation of its Gaussian, > 0
  double omega0 = 0;  ///< > 0
  double zeta = 0;    ///< damped only: 0 <= zeta < 1
};

/// Strength of the oscillator at `time`. With T = 2 pi time: damped 1 - e^(-zeta w0 T) sin(sqrt(1 - zeta^2) w0 T + phi)
/// / sin(phi), phi = acos(zeta); with T' = T + 1/w0: decaying sin(T'/w0) / (w0 T'), periodic sin(T'/w0).
[[nodiscard]] double amplitude(const Oscillator& oscillator, double time);

/// A uniform grid over [0, lengths]; values are in the centres of its cells or on its nodes.
struct Grid {
  Index3 cells{1, 1, 1};
  std::array<double, 3> lengths{1, 1, 1};
  bool nodes = false;  ///< values on nodes, cells + 1 of them on each axis
  [[nodiscard]] double spacing(int axis) const { return lengths[axis] / static_cast<double>(cells[axis]); }
  [[nodiscard]] double position(int axis, std::int64_t index) const {
    return spacing(axis) * (static_cast<double>(index) + (nodes ? 0.0 : 0.5));
  }
  /// All points, and the points in a box of cells.
  [[nodiscard]] Box points() const { return points(Box{{0, 0, 0}, cells}); }
  [[nodiscard]] Box points(Box box) const {
    for (auto& end : box.hi) end += nodes ? 1 : 0;
    return box;
  }
};

/// The field on a fixed box of points of a grid. A Gaussian is a product of one factor per axis. These are in tables
/// made once, so that a step takes one multiplication and one addition per point and oscillator.
///
/// The value at a point depends bit for bit only on its global index and the time: the order of operations is the same
/// wherever the box begins. Factors below 1e-60 count as zero, which keeps subnormal numbers (slow) out of the loop.
class Field {
 public:
  Field(const Grid& grid, const Box& points, const std::vector<Oscillator>& oscillators);

  /// Fills `out`, contiguous over the box with i fastest. `amplitudes` has one entry per oscillator. Summed in double.
  template <class T>
  void evaluate(const std::vector<double>& amplitudes, T* out);

 private:
  void add_row(const std::vector<double>& amplitudes, std::int64_t j, std::int64_t k);
  Index3 extents_;
  std::size_t count_;                           // number of oscillators
  std::array<std::vector<double>, 3> factors_;  // [axis][oscillator * extent + index]
  std::vector<double> row_;                     // sums along i, in cache
};

}  // namespace oscillators
