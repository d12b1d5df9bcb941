// Prefix codes of limited length for the kinds of numbers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::trees {

/// Kinds 0 to 127 give the length and the second bit of a word; its low bits are stored separately. The words 0 and 1
/// have the kinds 0 and 1. A longer word of L bits has the kind 2 (L - 1) plus the bit below its highest.
inline constexpr std::size_t code_symbols = 128;

/// Number of low bits of a word of this kind. This function and those below have no branches, because short and long
/// words alternate.
[[nodiscard]] constexpr unsigned low_bits_of(unsigned kind) noexcept {
  const unsigned half = kind >> 1;
  return half - static_cast<unsigned>(half > 0);
}
[[nodiscard]] constexpr std::uint64_t high_bits_of(unsigned kind) noexcept {
  return std::uint64_t{static_cast<unsigned>(kind > 1) << 1 | (kind & 1)} << low_bits_of(kind);
}
/// Length of the longest code in bits.
inline constexpr unsigned longest_code = 10;

using SymbolCounts = std::array<std::uint32_t, code_symbols>;

/// The length of each kind's code; 0: it has none. If only one kind occurs, its code has no bits.
struct CodeTable {
  std::uint8_t first = 1, last = 0;  ///< the least and the greatest kind with a code; first > last: none
  std::array<std::uint8_t, code_symbols> bits{};
  [[nodiscard]] bool empty() const noexcept { return first > last; }
  [[nodiscard]] bool single() const noexcept { return first == last; }
};

/// Makes a Huffman code for these counts; no symbol's code is longer than `longest_code`.
[[nodiscard]] CodeTable code_for(const SymbolCounts& counts);
/// Number of bits that all symbols take in this code.
[[nodiscard]] std::uint64_t coded_bits(const CodeTable& table, const SymbolCounts& counts) noexcept;

void put_table(const CodeTable& table, Bytes& out);
/// Throws Error(file) if no prefix code has these lengths.
[[nodiscard]] CodeTable take_table(BytesView& stream);

/// Each kind's code in the lowest 16 bits, first bit lowest, with its length above them.
using CodeWords = std::array<std::uint32_t, code_symbols>;
[[nodiscard]] CodeWords code_words(const CodeTable& table) noexcept;

/// A look-up table over the next `longest_code` bits. An entry describes the code that these bits begin with: the
/// lowest 4 bits are its length, and the bits above are its kind. Bits that begin with no code get the greatest length.
inline constexpr std::size_t decode_entries = std::size_t{1} << longest_code;
void fill_decoder(const CodeTable& table, std::span<std::uint16_t, decode_entries> entries) noexcept;

}  // namespace sidestream::trees
