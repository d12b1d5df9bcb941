// Conversion of flags between bytes and bits, eight at a time in a 64-bit word.
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

/// Loads up to eight bytes as a word; missing ones are 0.
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

/// Maps each byte of a word to 1 if it is not 0.
[[nodiscard]] constexpr std::uint64_t truths(std::uint64_t word) noexcept {
  constexpr std::uint64_t low = 0x7f7f7f7f7f7f7f7f;
  return (((word & low) + low) | word) >> 7 & ones;
}

/// Packs the bytes of a word, each 0 or 1, to bits; the first byte gives the lowest one.
[[nodiscard]] constexpr std::uint8_t gathered(std::uint64_t word) noexcept {
  // Bit 8 n times bit 56 - 7 n is bit 56 + n, and no two products below meet.
  return static_cast<std::uint8_t>((word * 0x0102040810204080) >> 56);
}

/// The inverse of gathered(): a byte, 0 or 1, for each bit.
[[nodiscard]] constexpr std::uint64_t spread(std::uint8_t bits) noexcept {
  return truths((bits * ones) & 0x8040201008040201);
}

/// Sum of the bytes of a word, each 0 or 1.
[[nodiscard]] constexpr std::uint64_t count(std::uint64_t word) noexcept { return (word * ones) >> 56; }

/// Number of set bits, without an instruction that some processors lack.
[[nodiscard]] constexpr int count_bits(std::uint64_t word) noexcept {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  return static_cast<int>((((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * ones) >> 56);
}

/// A word with the lowest `count` (at most 64) bits set.
[[nodiscard]] constexpr std::uint64_t lowest(std::size_t count) noexcept {
  return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

/// Packs min(64, `count`) flags to bits; a byte other than 0 counts as 1.
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

/// Packs all flags to bits, 64 in each word; bits behind the last flag are 0.
[[nodiscard]] inline std::vector<std::uint64_t> words_of(std::span<const std::uint8_t> flags) {
  std::vector<std::uint64_t> words((flags.size() + 63) / 64);
  for (std::size_t n = 0; n < words.size(); ++n) words[n] = word_of(flags.data() + 64 * n, flags.size() - 64 * n);
  return words;
}

/// Not 0 if a flag is neither 0 nor 1.
[[nodiscard]] inline std::uint64_t odd_bits(std::span<const std::uint8_t> flags) noexcept {
  std::uint64_t all = 0;
  std::size_t n = 0;
  for (; n + 8 <= flags.size(); n += 8) all |= load(flags.data() + n);
  if (n < flags.size()) all |= load(flags.data() + n, flags.size() - n);
  return all & ~ones;
}

}  // namespace sidestream::flag_bits
