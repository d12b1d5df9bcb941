// The differences between values and predictions, as bits with probabilities.
//
//   zero? | octave of the size, one bit for each step | sign | the size's bits below the highest
//
// Probabilities depend on sizes of differences around the point, on its level and on its number of odd coordinates.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "bounded_codec/levels.hpp"
#include "bounded_codec/range_coder.hpp"

namespace sidestream::bounded {

inline constexpr int octaves = 24;  ///< the last one stands for a value that is stored as it is
inline constexpr std::uint8_t size_of_exact = 255;
inline constexpr std::int64_t most_difference = (std::int64_t{1} << (octaves - 1)) - 1;

/// The class of the activity around a point: two for each octave.
inline constexpr int activity_classes = 21;
inline constexpr std::array<std::uint8_t, 1024> class_of_activity = [] {
  std::array<std::uint8_t, 1024> made{};
  for (unsigned n = 1; n < made.size(); ++n) {
    const auto octave = static_cast<unsigned>(std::bit_width(n)) - 1;
    made[n] = static_cast<std::uint8_t>(1 + 2 * octave + (octave > 0 && (n >> (octave - 1) & 1) != 0 ? 1 : 0));
  }
  return made;
}();

/// All probabilities of a chunk, by numbers: those of a context follow one another.
struct Models {
  static constexpr std::uint32_t sign = 1, longer = 2;  ///< within a context; its first one is for zero
  static constexpr std::uint32_t of_context = longer + octaves;
  static constexpr std::uint32_t below = 3 * 3 * activity_classes * of_context;  ///< four of each octave
  static constexpr std::uint32_t repeated = below + 4 * octaves;
  std::array<BitModel, repeated + 1> all{};

  /// The context of the least activity; of_context further is that of the next class. Level: 0, 1, 2 for all others.
  [[nodiscard]] static constexpr std::uint32_t context(int level, int odd) noexcept {
    return static_cast<std::uint32_t>((std::min(level, 2) * 3 + odd) * activity_classes) * of_context;
  }
};

/// The size of a difference as neighbours see it.
[[nodiscard]] inline std::uint8_t seen_size(std::int64_t difference) noexcept {
  return static_cast<std::uint8_t>(std::min<std::int64_t>(difference < 0 ? -difference : difference, 254));
}

/// Activity is the sum of the sizes at the nearest known points times this, and of those before it: of the point
/// before, and of the line before.
inline constexpr std::array<std::uint32_t, 7> near_factors{0, 12, 6, 4, 3, 2, 2};
inline constexpr std::uint32_t before_factor = 6;

[[nodiscard]] inline std::uint32_t activity_class(std::uint32_t activity) noexcept {
  return class_of_activity[std::min<std::uint32_t>(activity, class_of_activity.size() - 1)];
}

/// Returns false if the value is stored as it is.
[[nodiscard, gnu::always_inline]] inline bool get_difference(Decoder& in, std::int64_t& difference,
                                                             std::uint32_t context, Models& models) {
  BitModel* const own = models.all.data() + context;
  difference = 0;
  if (!in.get(own[0])) return true;
  int octave = 0;
  while (octave + 1 < octaves && in.get(own[Models::longer + static_cast<std::uint32_t>(octave)])) ++octave;
  if (octave + 1 == octaves) return false;
  const std::uint32_t negative = in.get_random(own[Models::sign]);
  std::uint64_t size = 1;
  if (octave > 0) {
    BitModel* const below = models.all.data() + Models::below + 4 * static_cast<std::uint32_t>(octave);
    const std::uint32_t first = in.get_random(below[0]);
    size = 2 + first;
    if (octave > 1) {
      size = size << 1 | in.get_random(below[1 + first]);
      if (octave > 2) size = size << (octave - 2) | in.get_plain(octave - 2);
    }
  }
  const auto flip = -static_cast<std::int64_t>(negative);
  difference = (static_cast<std::int64_t>(size) ^ flip) - flip;
  return true;
}

/// Sets `last` to the bits of a value that is stored as it is. Apart, so that loops have their coder in registers.
[[nodiscard, gnu::noinline]] inline Decoder get_exact(Decoder in, int count, std::uint64_t& last, Models& models) {
  if (!in.get(models.all[Models::repeated])) last = in.get_plain(count);
  return in;
}

}  // namespace sidestream::bounded
