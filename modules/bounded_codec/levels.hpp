// The order of prediction of a box's points, and the points that predict each.
//
//   corners of a coarse grid are known; points between them are predicted, then the spacing is halved:
//
//     o . o      o known, - | one odd coordinate: from two sides along one axis
//     | + |      + two odd: the mean along two axes, from - and |; in three dimensions, then three odd
//     o - o      along an axis from one or two points on each side (linear, cubic)
//
// After Zhao et al., Optimizing error-bounded lossy compression for scientific data by dynamic spline interpolation
// (ICDE 2021). Axes are averaged, each with a weight that follows its errors.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sidestream::bounded {

using Extents = std::array<std::uint64_t, 3>;

/// The prediction of the points of one level along one axis.
struct AxisRule {
  bool cubic = true;
  std::uint8_t weight = 32;  ///< 1 to 63, relative to other axes
};

struct LevelRule {
  std::array<AxisRule, 3> axes{};
};

/// A point that a prediction uses: its place relative to the predicted one, and its factor times 2^tap_bits.
struct Tap {
  std::int64_t offset = 0;
  std::int64_t factor = 0;
};

inline constexpr int tap_bits = 10;

/// A run of points with the same taps. `step` apart, along the fastest axis.
struct Run {
  std::uint64_t first = 0, count = 0, step = 1;
  std::array<Tap, 12> taps{};
  int tap_count = 0;
  std::array<std::int64_t, 6> near{};  ///< the nearest known points
  int near_count = 0;
  std::int64_t line = 0;  ///< to the same point of the line before, among points like this; 0: none
  int odd = 0;            ///< number of odd coordinates
};

/// Sets the taps along one axis: of a point at `at` of `extent`, `stride` apart by `spacing`. Returns their quality: 2
/// from both sides, 1 from one.
struct AxisTaps {
  std::array<Tap, 4> taps{};
  int count = 0;
  bool both = false;
};
[[nodiscard]] inline AxisTaps axis_taps(std::uint64_t at, std::uint64_t extent, std::uint64_t spacing,
                                        std::uint64_t stride, bool cubic) noexcept {
  const auto one = static_cast<std::int64_t>(spacing * stride);
  const bool right = at + spacing < extent;
  const bool left3 = cubic && at >= 3 * spacing, right3 = cubic && at + 3 * spacing < extent;
  if (!right && !left3) return {{Tap{-one, 16}}, 1, false};
  if (!right) return {{Tap{-one, 24}, Tap{-3 * one, -8}}, 2, false};
  if (left3 && right3) return {{Tap{-one, 9}, Tap{one, 9}, Tap{-3 * one, -1}, Tap{3 * one, -1}}, 4, true};
  if (left3) return {{Tap{-one, 12}, Tap{one, 6}, Tap{-3 * one, -2}}, 3, true};
  if (right3) return {{Tap{-one, 6}, Tap{one, 12}, Tap{3 * one, -2}}, 3, true};
  return {{Tap{-one, 8}, Tap{one, 8}}, 2, true};
}

/// Joins the taps of the axes along which the point lies between known ones; those with points on both sides if any.
inline void join_taps(const std::array<AxisTaps, 3>& axes, const std::array<bool, 3>& odd, const LevelRule& rule,
                      Run& run) noexcept {
  bool both = false;
  for (std::size_t a = 0; a < 3; ++a) both |= odd[a] && axes[a].both;
  std::int64_t sum = 0, left = 64;
  std::size_t last = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!odd[a] || axes[a].both != both) continue;
    sum += rule.axes[a].weight;
    last = a;
  }
  run.tap_count = run.near_count = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!odd[a] || axes[a].both != both) continue;
    const std::int64_t weight = a == last ? left : 64 * rule.axes[a].weight / sum;
    left -= weight;
    for (int n = 0; n < axes[a].count; ++n) {
      const Tap& tap = axes[a].taps[static_cast<std::size_t>(n)];
      if (n < (both ? 2 : 1)) run.near[static_cast<std::size_t>(run.near_count++)] = tap.offset;
      run.taps[static_cast<std::size_t>(run.tap_count++)] = {tap.offset, tap.factor * weight};
    }
  }
}

/// The runs of a line: its points differ in their taps along the fastest axis only near both ends.
template <class F>
void runs_of_line(const Extents& extents, std::uint64_t spacing, const LevelRule& rule, const std::array<bool, 3>& odd,
                  std::array<AxisTaps, 3>& axes, Run& run, std::uint64_t line, F& f) {
  const std::uint64_t step = 2 * spacing, nx = extents[0];
  std::uint64_t x = odd[0] ? spacing : 0;
  run.step = step;
  if (!odd[0]) {
    join_taps(axes, odd, rule, run);
    run.first = line;
    run.count = (nx - 1) / step + 1;
    f(run, 0);
    return;
  }
  while (x < nx) {
    axes[0] = axis_taps(x, nx, spacing, 1, rule.axes[0].cubic);
    join_taps(axes, odd, rule, run);
    std::uint64_t stop = x + step;
    const bool inside = axes[0].both && (!rule.axes[0].cubic || x >= 3 * spacing);
    const std::uint64_t margin = rule.axes[0].cubic ? 3 * spacing : spacing;
    if (inside && x + margin < nx) stop = x + ((nx - 1 - margin - x) / step + 1) * step;
    run.first = line + x;
    run.count = (stop - x) / step;
    f(run, x);
    x = stop;
  }
}

/// Calls `f(run, x)` for all points of one level, in order; x is the first point's place in its line. `level` 0 is the
/// finest; its spacing is 2^level.
template <class F>
void for_each_run(const Extents& extents, int level, const LevelRule& rule, F&& f) {
  static constexpr std::array<std::array<bool, 3>, 7> classes{{{true, false, false},
                                                               {false, true, false},
                                                               {false, false, true},
                                                               {true, true, false},
                                                               {true, false, true},
                                                               {false, true, true},
                                                               {true, true, true}}};
  const std::uint64_t spacing = std::uint64_t{1} << level, step = 2 * spacing;
  const auto [nx, ny, nz] = extents;
  for (const auto& odd : classes) {
    Run run;
    run.odd = (odd[0] ? 1 : 0) + (odd[1] ? 1 : 0) + (odd[2] ? 1 : 0);
    if (odd[0] && nx <= spacing) continue;
    const std::uint64_t y0 = odd[1] ? spacing : 0, z0 = odd[2] ? spacing : 0;
    std::array<AxisTaps, 3> axes{};
    for (std::uint64_t z = z0; z < nz; z += step) {
      if (odd[2]) axes[2] = axis_taps(z, nz, spacing, nx * ny, rule.axes[2].cubic);
      for (std::uint64_t y = y0; y < ny; y += step) {
        if (odd[1]) axes[1] = axis_taps(y, ny, spacing, nx, rule.axes[1].cubic);
        run.line = y > y0   ? -static_cast<std::int64_t>(step * nx)
                   : z > z0 ? -static_cast<std::int64_t>(step * nx * ny)
                            : 0;
        runs_of_line(extents, spacing, rule, odd, axes, run, (z * ny + y) * nx, f);
      }
    }
  }
}

/// The number of halvings from the largest spacing to 1.
[[nodiscard]] inline int levels_of(const Extents& extents) {
  int levels = 0;
  for (const std::uint64_t extent : extents) {
    while (extent > std::uint64_t{1} << levels) ++levels;
  }
  return levels;
}

}  // namespace sidestream::bounded
