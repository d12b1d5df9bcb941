// Flags in bytes and in bits: eight of them at a time in a word.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace sidestream::flag_bits {

static_assert(std::endian::native == std::endian::little, "the first flag is the lowest byte of a word");

inline constexpr std::uint64_t ones = 0x0101010101010101;

/// Up to eight bytes as a word; those beyond are 0.
[[nodiscard]] inline std::uint64_t load(const std::uint8_t* bytes, std::size_t count = 8) noexcept {
  std::uint64_t word = 0;
  if (count >= 8) {
    std::memcpy(&word, bytes, 8);
  } else {
    std::memcpy(&word, bytes, count);
  }
  return word;
}

inline void store(std::uint64_t word, std::uint8_t* bytes, std::size_t count = 8) noexcept {
  if (count >= 8) {
    std::memcpy(bytes, &word, 8);
  } else {
    std::memcpy(bytes, &word, count);
  }
}

/// Of each byte 1 if it is not 0.
[[nodiscard]] constexpr std::uint64_t truths(std::uint64_t word) noexcept {
  constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7f;
  return (((word & low) + low) | word) >> 7 & ones;
}

/// The lowest bits of the bytes of a word whose bytes are 0 or 1, that of the first byte lowest.
[[nodiscard]] constexpr std::uint8_t gathered(std::uint64_t word) noexcept {
  // Bit 8 n times bit 56 - 7 n is bit 56 + n, and no two products below meet.
  return static_cast<std::uint8_t>((word * 0x0102040810204080) >> 56);
}

/// The reverse: a byte, 0 or 1, of each bit.
[[nodiscard]] constexpr std::uint64_t spread(std::uint8_t bits) noexcept {
  return truths((bits * ones) & 0x8040201008040201);
}

/// The sum of the bytes of a word whose bytes are 0 or 1.
[[nodiscard]] constexpr std::uint64_t count(std::uint64_t word) noexcept { return (word * ones) >> 56; }

/// Bits that are set, without an instruction that not every processor has.
[[nodiscard]] constexpr int count_bits(std::uint64_t word) noexcept {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  return static_cast<int>((((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * ones) >> 56);
}

/// The lowest `count` bits, at most 64.
[[nodiscard]] constexpr std::uint64_t lowest(std::size_t count) noexcept {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// 64 flags from `bytes` on, or `count` if that is less, as bits; whatever their bytes are.
[[nodiscard]] inline std::uint64_t word_of(const std::uint8_t* bytes, std::size_t count) noexcept {
  std::uint64_t word = 0;
#ifdef __SSE2__
  if (count >= 64) {
    for (unsigned n = 0; n < 64; n += 16) {
      const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + n));
      const int zeros = _mm_movemask_epi8(_mm_cmpeq_epi8(sixteen, _mm_setzero_si128()));
      word |= std::uint64_t{static_cast<std::uint16_t>(~zeros)} << n;
    }
    return word;
  }
#endif
  for (std::size_t n = 0; n < 64 && n < count; n += 8) {
    word |= std::uint64_t{gathered(truths(load(bytes + n, count - n)))} << n;
  }
  return word;
}

/// All flags, 64 to a word; bits beyond the last are 0.
[[nodiscard]] inline std::vector<std::uint64_t> words_of(std::span<const std::uint8_t> flags) {
  std::vector<std::uint64_t> words((flags.size() + 63) / 64);
  for (std::size_t n = 0; n < words.size(); ++n) words[n] = word_of(flags.data() + 64 * n, flags.size() - 64 * n);
  return words;
}

/// Of all flags together, the bits that are neither that of 0 nor of 1.
[[nodiscard]] inline std::uint64_t odd_bits(std::span<const std::uint8_t> flags) noexcept {
  std::uint64_t all = 0;
  std::size_t n = 0;
  for (; n + 8 <= flags.size(); n += 8) all |= load(flags.data() + n);
  if (n < flags.size()) all |= load(flags.data() + n, flags.size() - n);
  return all & ~ones;
}

}  // namespace sidestream::flag_bits
