// Counting values by place with 512-bit instructions.
#pragma once

#include <array>
#include <cstdint>

#include "reduce/bins/bin_guess.hpp"

namespace sidestream {

/// Counts by place. Neighbours are often in the same interval, and then one addition would wait for the other: each of
/// so many has a row of its own, as long as all rows stay in the nearest cache. Rows are no power of two long, since
/// they would want the same places of it.
struct CountRows {
  static constexpr std::size_t turns = 8, most_places = 1024, length = most_places + 16;
};

/// Of how many values counts are had in one call, and how many go together.
constexpr Index most_wide_counts = 4096, wide_group = 16;

/// What a call leaves: a bit for each value whose interval is unsure; they are counted as unsure.
struct Unsure {
  std::array<std::uint16_t, most_wide_counts / wide_group> bits;  ///< by group
  Index none = 0;  ///< how many are no numbers; they are counted as below
};

/// Adds one to `rows` (CountRows) for each of n <= most_wide_counts values, n a multiple of wide_group; what the places
/// are BinGuess says.
using WideCounts = void (*)(const double* values, Index n, const BinGuess::Rule& rule, std::uint32_t* rows,
                            Unsure& unsure);

/// Null: this build or this processor has none.
[[nodiscard]] WideCounts wide_counts() noexcept;

}  // namespace sidestream
