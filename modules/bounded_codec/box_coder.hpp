// Encodes or decodes the points of a box, level by level.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "bounded_codec/boxes.hpp"
#include "bounded_codec/lattice.hpp"
#include "bounded_codec/residuals.hpp"
#include "bounded_codec/states.hpp"

namespace sidestream::bounded {

inline constexpr int ruled_levels = 4;  ///< coarser ones have the rule of the last

/// All that a decoder needs of a box besides its place.
struct BoxHead {
  Lattice lattice{};
  std::array<LevelRule, ruled_levels> rules{};
  BoxStates states{};  ///< only of logarithms

  [[nodiscard]] const LevelRule& rule(int level) const {
    return rules[static_cast<std::size_t>(std::min(level, ruled_levels - 1))];
  }
};

/// Numbers of a box, the sizes of its differences, and its states where it has them; kept from box to box.
struct BoxMemory {
  std::vector<std::int64_t> numbers;
  std::vector<std::uint8_t> sizes, states;
  void resize(std::size_t points) {
    numbers.resize(points);
    sizes.resize(points);
  }
};

/// Points of a run that are coded together. Other points predict them, so all predictions come first.
struct Line {
  static constexpr std::uint64_t most = 64;
  std::uint64_t first = 0, step = 1, count = 1;
  std::uint32_t left = 0;         ///< the size of the point before
  std::uint32_t left_factor = 0;  ///< its part in activities
  std::array<std::int64_t, most> predictions;
  std::array<std::uint32_t, most> activities;  ///< without the point before
};

/// Predicts points of a run; their counts of taps are known at compile time for those inside the box.
template <int Taps, int Near>
[[gnu::noinline]] void predict(const Run& run, const BoxMemory& memory, Line& line) noexcept {
  const int taps = Taps > 0 ? Taps : run.tap_count, nears = Near > 0 ? Near : run.near_count;
  const std::uint32_t near_factor = near_factors[static_cast<std::size_t>(nears)];
  const std::int64_t* number = memory.numbers.data() + line.first;
  const std::uint8_t* around = memory.sizes.data() + line.first;
  for (std::uint64_t n = 0; n < line.count; ++n, number += line.step, around += line.step) {
    std::int64_t sum = std::int64_t{1} << (tap_bits - 1);
    for (int k = 0; k < taps; ++k) {
      const Tap& tap = run.taps[static_cast<std::size_t>(k)];
      sum += number[tap.offset] * tap.factor;
    }
    std::uint32_t near = 0;
    for (int k = 0; k < nears; ++k) near += around[run.near[static_cast<std::size_t>(k)]];
    line.predictions[n] = sum >> tap_bits;
    line.activities[n] = near * near_factor + (run.line != 0 ? before_factor * around[run.line] : 0);
  }
}

/// The numbers of taps that runs inside a box have: two or four along each axis.
inline void predict_as(const Run& run, const BoxMemory& memory, Line& line) noexcept {
  switch (run.tap_count * 8 + run.near_count) {
    case 2 * 8 + 2:
      return predict<2, 2>(run, memory, line);
    case 4 * 8 + 2:
      return predict<4, 2>(run, memory, line);
    case 4 * 8 + 4:
      return predict<4, 4>(run, memory, line);
    case 6 * 8 + 4:
      return predict<6, 4>(run, memory, line);
    case 8 * 8 + 4:
      return predict<8, 4>(run, memory, line);
    case 6 * 8 + 6:
      return predict<6, 6>(run, memory, line);
    case 8 * 8 + 6:
      return predict<8, 6>(run, memory, line);
    case 10 * 8 + 6:
      return predict<10, 6>(run, memory, line);
    case 12 * 8 + 6:
      return predict<12, 6>(run, memory, line);
    default:
      return predict<0, 0>(run, memory, line);
  }
}

template <class Side>
void code_run(const Run& run, std::uint64_t line_at, std::uint32_t context, BoxMemory& memory, Line& line, Side& side) {
  line.step = run.step;
  line.left = line_at >= run.step ? memory.sizes[run.first - run.step] : 0;
  line.left_factor = before_factor * (run.line != 0 ? 1 : 2);
  for (std::uint64_t done = 0; done < run.count; done += line.count) {
    line.first = run.first + done * run.step;
    line.count = std::min(run.count - done, Line::most);
    predict_as(run, memory, line);
    side.code(line, context);
    line.left = memory.sizes[line.first + (line.count - 1) * line.step];
  }
}

/// Calls `side.code(line, context)` for all points, in order. It leaves their numbers and sizes in `memory`.
template <class Side>
void walk(const PointBox& box, const BoxHead& head, BoxMemory& memory, Side& side) {
  Line line;
  line.predictions[0] = 0;
  line.activities[0] = 0;
  side.code(line, Models::context(2, 0));
  for (int level = levels_of(box.extents); level-- > 0;) {
    for_each_run(box.extents, level, head.rule(level), [&](const Run& run, std::uint64_t line_at) {
      code_run(run, line_at, Models::context(level, run.odd - 1), memory, line, side);
    });
  }
}

}  // namespace sidestream::bounded
