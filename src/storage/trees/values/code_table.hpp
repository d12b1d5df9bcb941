// Prefix codes for small numbers: which number has how many bits, as counts say.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::trees {

/// Numbers 0 to 127: what is said of a word but for its lowest bits. 0 and 1 are those words; of another one of L bits
/// it is 2 (L - 1) and the bit below the first.
inline constexpr std::size_t code_symbols = 128;

/// The bits of a word that are left to be said. Without branches, here and below: short words and long ones take turns.
[[nodiscard]] constexpr unsigned low_bits_of(unsigned kind) noexcept {
  const unsigned half = kind >> 1;
  return half - static_cast<unsigned>(half > 0);
}
[[nodiscard]] constexpr std::uint64_t high_bits_of(unsigned kind) noexcept {
  return std::uint64_t{static_cast<unsigned>(kind > 1) << 1 | (kind & 1)} << low_bits_of(kind);
}
/// Bits of the longest code.
inline constexpr unsigned longest_code = 10;

using SymbolCounts = std::array<std::uint32_t, code_symbols>;

/// Of each number the bits of its code; 0: it has none. One number that is all there is has a code of no bits.
struct CodeTable {
  std::uint8_t first = 1, last = 0;  ///< the least and the greatest number that have one; first > last: none has
  std::array<std::uint8_t, code_symbols> bits{};
  [[nodiscard]] bool empty() const noexcept { return first > last; }
  [[nodiscard]] bool single() const noexcept { return first == last; }
};

/// Huffman's code of these counts, none longer than `longest_code`.
[[nodiscard]] CodeTable code_for(const SymbolCounts& counts);
/// Bits that so many numbers take by it.
[[nodiscard]] std::uint64_t coded_bits(const CodeTable& table, const SymbolCounts& counts) noexcept;

void put_table(const CodeTable& table, Bytes& out);
/// Throws Error(file) if no code has these lengths.
[[nodiscard]] CodeTable take_table(BytesView& stream);

/// Of each number the code in the lowest 16 bits, first bit lowest, and its length above them.
using CodeWords = std::array<std::uint32_t, code_symbols>;
[[nodiscard]] CodeWords code_words(const CodeTable& table) noexcept;

/// For each value of the next `longest_code` bits: the length of the code they begin with in the lowest 4 bits, and the
/// number above. What begins with no code has the longest.
inline constexpr std::size_t decode_entries = std::size_t{1} << longest_code;
void fill_decoder(const CodeTable& table, std::span<std::uint16_t, decode_entries> entries) noexcept;

}  // namespace sidestream::trees
