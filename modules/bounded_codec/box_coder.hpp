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
    numbers.assign(points, 0);
    sizes.assign(points, 0);
  }
};

/// The points of a run; their counts of taps are known at compile time for those inside the box.
template <int Taps, int Near, class Side>
void code_run(const Run& run, std::uint64_t line_at, BoxMemory& memory, Side& side,
              std::array<ResidualContext, activity_classes>& contexts) {
  const int taps = Taps > 0 ? Taps : run.tap_count, nears = Near > 0 ? Near : run.near_count;
  const std::uint8_t* const sizes = memory.sizes.data();
  unsigned left = line_at >= run.step ? sizes[run.first - run.step] : 0;
  std::uint64_t point = run.first;
  for (std::uint64_t n = 0; n < run.count; ++n, point += run.step) {
    const std::int64_t* const number = memory.numbers.data() + point;
    std::int64_t sum = std::int64_t{1} << (tap_bits - 1);
    for (int k = 0; k < taps; ++k) {
      const Tap& tap = run.taps[static_cast<std::size_t>(k)];
      sum += number[tap.offset] * tap.factor;
    }
    const std::uint8_t* const around = sizes + point;
    unsigned near = 0;
    for (int k = 0; k < nears; ++k) near += around[run.near[static_cast<std::size_t>(k)]];
    const unsigned before = left + (run.line != 0 ? around[run.line] : left);
    const auto activity = static_cast<std::size_t>(activity_class(near, nears, before));
    const std::uint8_t size = side.code(point, sum >> tap_bits, contexts[activity]);
    memory.sizes[point] = size;
    left = size;
  }
}

/// Calls `side.code(point, prediction, context)` for each point, in order. It returns the size that later
/// points see, and leaves the point's number in `memory`.
template <class Side>
void walk(const PointBox& box, const BoxHead& head, BoxMemory& memory, Models& models, Side& side) {
  const int levels = levels_of(box.extents);
  memory.sizes[0] = side.code(0, 0, models.contexts[2][0][0]);
  for (int level = levels; level-- > 0;) {
    auto& of_level = models.contexts[static_cast<std::size_t>(std::min(level, 2))];
    for_each_run(box.extents, level, head.rule(level), [&](const Run& run, std::uint64_t line_at) {
      auto& contexts = of_level[static_cast<std::size_t>(run.odd - 1)];
      const int kind = run.tap_count * 16 + run.near_count;
      if (kind == 4 * 16 + 2) return code_run<4, 2>(run, line_at, memory, side, contexts);
      if (kind == 8 * 16 + 4) return code_run<8, 4>(run, line_at, memory, side, contexts);
      if (kind == 12 * 16 + 6) return code_run<12, 6>(run, line_at, memory, side, contexts);
      code_run<0, 0>(run, line_at, memory, side, contexts);
    });
  }
}

}  // namespace sidestream::bounded
