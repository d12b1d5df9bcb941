// Loops over numbers, their kinds, and the codes of kinds.
#pragma once

#include <cstdint>

#include "amr_codec/values/residual_coder.hpp"

namespace sidestream::trees::length_loops {

/// Stands for the expected length of a number that is not predicted by slopes; its source is added.
inline constexpr std::uint16_t first_mark = 0x8000;

/// Bytes needed behind the codes: as many as a row of the longest codes takes.
inline constexpr std::size_t code_slack = tile_groups / lanes * longest_code / 8 + 16;

template <class W>
void find_kinds(const W* numbers, std::size_t count, std::uint8_t* kinds);

/// Chooses the code of each number: by its class among the slopes of this step, or by its source.
void choose_codes(const std::uint16_t* marks, std::size_t count, std::size_t step,
                  const std::array<std::uint16_t, most_classes - 1>& limits, std::uint8_t* codes);

/// Joins code and kind in one symbol: `code * code_symbols + kind`.
void join_symbols(const std::uint8_t* codes, const std::uint8_t* kinds, std::size_t count, std::uint16_t* symbols);

/// Adds the counts of symbols to `counts`.
void count_symbols(const std::uint16_t* symbols, std::size_t count, std::uint32_t* counts);

/// Writes the codes of every `lanes`-th symbol of a row. `words`: the codes of all symbols.
void write_lane(const std::uint16_t* symbols, std::size_t count, const std::uint32_t* words, BitWriter& writer);

/// Finds the number of low bits of each kind; returns the sum.
std::uint64_t find_low_bits(const std::uint8_t* kinds, std::size_t count, std::uint8_t* low);

/// Writes the `low[n]` lowest bits of each number n. Touches `bit_slack` bytes behind them.
template <class W>
void write_low_bits(const W* numbers, const std::uint8_t* low, std::size_t count, std::uint8_t* out);

/// Decodes the kinds of a row; the first one is in the first lane. Reads at most `code_slack` bytes from each place on.
void read_codes(std::array<ResidualReader::Lane, lanes>& all, const std::uint16_t* decoders, const std::uint8_t* codes,
                std::size_t count, std::uint8_t* kinds);

/// Reads numbers of these kinds from bit `place` on. Touches `bit_slack` bytes behind them. Returns the bit behind the
/// last.
template <class W>
std::uint64_t read_numbers(const std::uint8_t* bits, std::uint64_t place, const std::uint8_t* kinds, std::size_t count,
                           W* numbers);

}  // namespace sidestream::trees::length_loops
