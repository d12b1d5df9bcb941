// The loops over numbers, their kinds and the codes of these.
#pragma once

#include <cstdint>

#include "storage/trees/values/residual_coder.hpp"

namespace sidestream::trees::length_loops {

/// What a number that is not predicted by slopes has in place of an expected length: this and its source.
inline constexpr std::uint16_t first_mark = 0x8000;

/// Behind what is read as codes: a row of the longest ones.
inline constexpr std::size_t code_slack = tile_groups / lanes * longest_code / 8 + 16;

template <class W>
void find_kinds(const W* numbers, std::size_t count, std::uint8_t* kinds);

/// Which code each has: of the slopes of this step, or of its source.
void choose_codes(const std::uint16_t* marks, std::size_t count, std::size_t step,
                  const std::array<std::uint16_t, most_classes - 1>& limits, std::uint8_t* codes);

/// A kind and which code it has, in one number: `code * code_symbols + kind`.
void join_symbols(const std::uint8_t* codes, const std::uint8_t* kinds, std::size_t count, std::uint16_t* symbols);

/// Counts of these, added to `counts`.
void count_symbols(const std::uint16_t* symbols, std::size_t count, std::uint32_t* counts);

/// Codes of a row of symbols, each `lanes` behind the one before. `words`: of all symbols.
void write_lane(const std::uint16_t* symbols, std::size_t count, const std::uint32_t* words, BitWriter& writer);

/// How many low bits each kind leaves; their sum.
std::uint64_t find_low_bits(const std::uint8_t* kinds, std::size_t count, std::uint8_t* low);

/// So many of each number's low bits, `bit_slack` bytes of anything behind them.
template <class W>
void write_low_bits(const W* numbers, const std::uint8_t* low, std::size_t count, std::uint8_t* out);

/// Kinds of a row, the first out of the first lane. Reads no more than `code_slack` beyond the lanes' places.
void read_codes(std::array<ResidualReader::Lane, lanes>& all, const std::uint16_t* decoders, const std::uint8_t* codes,
                std::size_t count, std::uint8_t* kinds);

/// Numbers of these kinds, from bit `place` on; the bit behind the last. Reads `bit_slack` bytes more.
template <class W>
std::uint64_t read_numbers(const std::uint8_t* bits, std::uint64_t place, const std::uint8_t* kinds, std::size_t count,
                           W* numbers);

}  // namespace sidestream::trees::length_loops
