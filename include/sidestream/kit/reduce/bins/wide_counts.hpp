// Counting of values by place with 512-bit instructions.
#pragma once

#include <array>
#include <cstdint>

#include "sidestream/kit/reduce/bins/bin_guess.hpp"

namespace sidestream {

/// Rows of counts by place. Neighbouring values are often in the same interval, and then one addition would wait for
/// the other. So each of several consecutive values has its own row, as long as all rows fit the first-level cache. The
/// length of a row is not a power of two, because rows would then compete for the same cache lines.
struct CountRows {
  static constexpr std::size_t turns = 8, most_places = 1024, length = most_places + 16;
};

/// Largest number of values in one call, and number of values that are processed together.
constexpr Index most_wide_counts = 4096, wide_group = 16;

/// Output of a call: a bit is set for each value whose interval is unsure. These values are counted as unsure.
struct Unsure {
  std::array<std::uint16_t, most_wide_counts / wide_group> bits;  ///< by group
  Index none = 0;                                                 ///< number of NaNs, which are counted as below
};

/// Adds one to `rows` (CountRows) for each of n <= most_wide_counts values, n being a multiple of wide_group. BinGuess
/// defines the places.
using WideCounts = void (*)(const double* values, Index n, const BinGuess::Rule& rule, std::uint32_t* rows,
                            Unsure& unsure);

/// The function, or null if this build or this processor has none.
[[nodiscard]] WideCounts wide_counts() noexcept;

}  // namespace sidestream
