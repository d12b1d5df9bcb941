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

struct ResidualContext {
  BitModel zero, sign;
  std::array<BitModel, octaves> longer{};
};

/// All probabilities of a chunk.
struct Models {
  std::array<std::array<std::array<ResidualContext, activity_classes>, 3>, 3> contexts{};  ///< by level, odd, activity
  std::array<std::array<BitModel, 4>, octaves> below{};
  BitModel repeated{};
};

/// The size of a difference as neighbours see it.
[[nodiscard]] inline std::uint8_t seen_size(std::int64_t difference) noexcept {
  return static_cast<std::uint8_t>(std::min<std::int64_t>(difference < 0 ? -difference : difference, 254));
}

/// Activity at a point from the sizes of its nearest known points, and of the points before it and in the line before.
[[nodiscard]] inline int activity_class(unsigned near, int near_count, unsigned before) noexcept {
  static constexpr std::array<unsigned, 7> factors{0, 12, 6, 4, 3, 2, 2};
  const unsigned activity = near * factors[static_cast<std::size_t>(near_count)] + 6 * before;
  return class_of_activity[std::min(activity, 1023U)];
}

inline void put_octave(Encoder& out, int octave, ResidualContext& context) {
  for (int n = 0; n < octave; ++n) out.put(true, context.longer[static_cast<std::size_t>(n)]);
  if (octave + 1 < octaves) out.put(false, context.longer[static_cast<std::size_t>(octave)]);
}

/// `difference`: at most most_difference.
inline void put_difference(Encoder& out, std::int64_t difference, ResidualContext& context, Models& models) {
  out.put(difference != 0, context.zero);
  if (difference == 0) return;
  const auto size = static_cast<std::uint64_t>(difference < 0 ? -difference : difference);
  const int octave = static_cast<int>(std::bit_width(size)) - 1;
  put_octave(out, octave, context);
  out.put(difference < 0, context.sign);
  if (octave == 0) return;
  auto& below = models.below[static_cast<std::size_t>(octave)];
  const bool first = (size >> (octave - 1) & 1) != 0;
  out.put(first, below[0]);
  if (octave == 1) return;
  out.put((size >> (octave - 2) & 1) != 0, below[first ? 2 : 1]);
  out.put_plain(size & ((std::uint64_t{1} << (octave - 2)) - 1), octave - 2);
}

inline void put_exact(Encoder& out, std::uint64_t bits, int count, std::uint64_t& last, ResidualContext& context,
                      Models& models) {
  out.put(true, context.zero);
  put_octave(out, octaves - 1, context);
  out.put(bits == last, models.repeated);
  if (bits != last) out.put_plain(bits, count);
  last = bits;
}

/// Returns false if the value is stored as it is.
[[nodiscard]] inline bool get_difference(Decoder& in, std::int64_t& difference, ResidualContext& context,
                                         Models& models) {
  difference = 0;
  if (!in.get(context.zero)) return true;
  int octave = 0;
  while (octave + 1 < octaves && in.get(context.longer[static_cast<std::size_t>(octave)])) ++octave;
  if (octave + 1 == octaves) return false;
  const bool negative = in.get(context.sign);
  std::uint64_t size = 1;
  if (octave > 0) {
    auto& below = models.below[static_cast<std::size_t>(octave)];
    const bool first = in.get(below[0]);
    size = first ? 3 : 2;
    if (octave > 1) {
      size = size << 1 | (in.get(below[first ? 2 : 1]) ? 1U : 0U);
      size = size << (octave - 2) | in.get_plain(octave - 2);
    }
  }
  difference = negative ? -static_cast<std::int64_t>(size) : static_cast<std::int64_t>(size);
  return true;
}

[[nodiscard]] inline std::uint64_t get_exact(Decoder& in, int count, std::uint64_t& last, Models& models) {
  if (!in.get(models.repeated)) last = in.get_plain(count);
  return last;
}

}  // namespace sidestream::bounded
