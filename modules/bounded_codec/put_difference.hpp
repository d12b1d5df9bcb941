// Encodes a difference: the inverse of get_difference (residuals.hpp), for speed.
//
// A processor that guesses a branch wrongly waits for longer than a bit takes to be coded, and differences are as good
// as random. So there is one branch for each value, on the width of its difference, and code without branches for each
// width that is usual.
#pragma once

#include <bit>
#include <cstdint>

#include "bounded_codec/residuals.hpp"

namespace sidestream::bounded {

/// The most bytes of a value: a bit has 11 at most, a value 26 and 64 plain ones.
inline constexpr std::ptrdiff_t most_value_bytes = 64;

/// Bits that nothing is known of, the highest first; at most 64.
inline void put_plain_bits(Encoder& out, std::uint64_t bits, int count) noexcept {
  while (count > 0) {
    const int now = count < 16 ? count : 16;
    count -= now;
    out.put_plain(static_cast<std::uint32_t>(bits >> count) & ((1U << now) - 1), now);
  }
}

/// The sign of a difference of `width` bits, and the bits of `size` below the highest.
[[gnu::always_inline]] inline void put_below(Encoder& out, std::uint32_t size, bool negative, int width, BitModel* own,
                                             Models& models) noexcept {
  out.put(negative, own[Models::sign]);
  if (width < 2) return;
  BitModel* const below = models.all.data() + Models::below + 4 * (width - 1);
  const std::uint32_t first = size >> (width - 2) & 1;
  out.put(first != 0, below[0]);
  if (width < 3) return;
  out.put((size >> (width - 3) & 1) != 0, below[1 + first]);
  if (width > 3) put_plain_bits(out, size & ((1U << (width - 3)) - 1), width - 3);
}

/// `width`: at least 1. Where it is a constant, the compiler resolves all loops and conditions.
[[gnu::always_inline]] inline void put_width(Encoder& out, std::uint32_t size, bool negative, int width, BitModel* own,
                                             Models& models) noexcept {
  out.put(true, own[0]);
  for (int n = 0; n + 1 < width; ++n) out.put(true, own[Models::longer + static_cast<std::uint32_t>(n)]);
  out.put(false, own[Models::longer + static_cast<std::uint32_t>(width - 1)]);
  put_below(out, size, negative, width, own, models);
}

/// Apart, and with a coder as a value, so that loops have theirs in registers.
[[nodiscard, gnu::noinline]] inline Encoder put_wide(Encoder out, std::uint32_t size, bool negative, int width,
                                                     BitModel* own, Models& models) noexcept {
  put_width(out, size, negative, width, own, models);
  return out;
}

/// `difference`: at most most_difference. `context`: the number of its first model.
[[gnu::always_inline]] inline void put_difference(Encoder& out, std::int32_t difference, std::uint32_t context,
                                                  Models& models) noexcept {
  const bool negative = difference < 0;
  const auto size = static_cast<std::uint32_t>(negative ? -difference : difference);
  BitModel* const own = models.all.data() + context;
  const int width = static_cast<int>(std::bit_width(size));
  // clang-format off
  switch (width) {
    case 0: return out.put(false, own[0]);
    case 1: return put_width(out, size, negative, 1, own, models);
    case 2: return put_width(out, size, negative, 2, own, models);
    case 3: return put_width(out, size, negative, 3, own, models);
    case 4: return put_width(out, size, negative, 4, own, models);
    case 5: return put_width(out, size, negative, 5, own, models);
    case 6: return put_width(out, size, negative, 6, own, models);
    default: out = put_wide(out, size, negative, width, own, models);
  }
  // clang-format on
}

/// A value of `count` bits that is stored as it is. `last`: the one before. Apart, as put_wide.
[[nodiscard, gnu::noinline]] inline Encoder put_exact(Encoder out, std::uint64_t bits, int count, std::uint64_t& last,
                                                      std::uint32_t context, Models& models) noexcept {
  BitModel* const own = models.all.data() + context;
  out.put(true, own[0]);
  for (std::uint32_t n = 0; n + 1 < octaves; ++n) out.put(true, own[Models::longer + n]);
  out.put(bits == last, models.all[Models::repeated]);
  if (bits != last) put_plain_bits(out, bits, count);
  last = bits;
  return out;
}

}  // namespace sidestream::bounded
