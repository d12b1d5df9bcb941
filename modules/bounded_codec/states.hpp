// Signs and zeros of a box, which have no logarithms. Both are coded before the sizes, in the order of memory.
//
//   zero? | negative?   depend on the states of the points before this one on its line, in its layer, in the layer
//   below
//
// Nothing is coded of what all points of a box have in common.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bounded_codec/levels.hpp"
#include "bounded_codec/range_coder.hpp"

namespace sidestream::bounded {

inline constexpr std::uint8_t state_negative = 1, state_zero = 2;
inline constexpr std::ptrdiff_t most_state_bytes = 8;  ///< the most of a point

/// The states that a box has; the head has these bits.
struct BoxStates {
  bool zeros = false;     ///< some values are zero
  bool signs = false;     ///< signs differ
  bool negative = false;  ///< without `signs`: all values are negative

  [[nodiscard]] std::uint8_t bits() const noexcept {
    return static_cast<std::uint8_t>((zeros ? 1 : 0) | (signs ? 2 : 0) | (negative ? 4 : 0));
  }
  /// False if no encoder has made these bits.
  [[nodiscard]] static bool from(std::uint8_t bits, BoxStates& made) noexcept {
    made = {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
    return bits < 8 && !(made.signs && made.negative);
  }
};

/// Probabilities of a chunk, by the states of three points before.
struct StateModels {
  std::array<BitModel, 64> zero{};
  std::array<std::array<BitModel, 64>, 2> negative{};  ///< first index: 1 for zeros
};

template <class Real>
[[nodiscard]] std::uint8_t state_of(Real value) noexcept {
  return static_cast<std::uint8_t>((std::signbit(value) ? state_negative : 0) | (value == 0 ? state_zero : 0));
}

[[nodiscard]] inline BoxStates summary_of(const std::vector<std::uint8_t>& states) noexcept {
  unsigned some = 0, all = state_negative;
  for (const std::uint8_t state : states) {
    some |= state;
    all &= state;
  }
  const bool negative = (some & state_negative) != 0;
  return {(some & state_zero) != 0, negative && all == 0, negative && all != 0};
}

/// Calls `code(state, context)` for each point; it may set the state.
template <class F>
void for_each_state(const Extents& extents, std::vector<std::uint8_t>& states, F&& code) {
  const std::uint64_t nx = extents[0], layer = nx * extents[1];
  std::uint64_t point = 0;
  for (std::uint64_t z = 0; z < extents[2]; ++z) {
    for (std::uint64_t y = 0; y < extents[1]; ++y) {
      unsigned left = 0;
      for (std::uint64_t x = 0; x < nx; ++x, ++point) {
        const unsigned before = y > 0 ? states[point - nx] : 0, below = z > 0 ? states[point - layer] : 0;
        code(states[point], left | before << 2 | below << 4);
        left = states[point];
      }
    }
  }
}

inline void put_states(const Extents& extents, const BoxStates& box, std::vector<std::uint8_t>& states,
                       StateModels& models, Encoder& out) {
  if (!box.zeros && !box.signs) return;
  for_each_state(extents, states, [&](std::uint8_t state, unsigned context) {
    if (out.lacks(most_state_bytes)) return;
    const bool is_zero = (state & state_zero) != 0;
    if (box.zeros) out.put(is_zero, models.zero[context]);
    if (box.signs) out.put((state & state_negative) != 0, models.negative[is_zero ? 1 : 0][context]);
  });
}

inline void get_states(const Extents& extents, const BoxStates& box, std::vector<std::uint8_t>& states,
                       StateModels& models, Decoder& in) {
  states.assign(extents[0] * extents[1] * extents[2], box.negative ? state_negative : 0);
  if (!box.zeros && !box.signs) return;
  for_each_state(extents, states, [&](std::uint8_t& state, unsigned context) {
    const bool is_zero = box.zeros && in.get(models.zero[context]);
    const bool negative = box.signs ? in.get(models.negative[is_zero ? 1 : 0][context]) : box.negative;
    state = static_cast<std::uint8_t>((negative ? state_negative : 0) | (is_zero ? state_zero : 0));
  });
}

}  // namespace sidestream::bounded
