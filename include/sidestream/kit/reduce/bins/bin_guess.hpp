// Fast classification of many values into intervals, and counting of the resulting places.
#pragma once

#include <array>
#include <cstdint>

#include "sidestream/data/box.hpp"
#include "sidestream/kit/reduce/bins/bins.hpp"

namespace sidestream {

/// Guesses the interval of values, several at a time. The position among the intervals of Bins is computed in whole
/// numbers of 2^-shift of an interval, with a bounded error. A value is `unsure` if it is so near an edge that the
/// bound does not decide. Every other guess equals Bins::slot.
class BinGuess {
 public:
  static constexpr Index most = 1024;  ///< values at a time

  explicit BinGuess(const Bins& bins);
  /// False if intervals are too many or too narrow for guesses.
  [[nodiscard]] bool possible() const noexcept { return rule_.shift > 0; }

  /// Guesses places[i] for n <= most values: 0 below, 1 ... count in an interval, count + 1 above, count + 2 unsure.
  /// NaN is below.
  struct Found {
    Index unsure = 0, none = 0;  ///< numbers of unsure values and of NaN
  };
  Found run(const double* values, Index n, std::uint16_t* places) const noexcept;

  /// Conversion of a value to a place, which is clamped to a range that extends beyond both ends, and the unit of
  /// places.
  struct Scale {
    double offset = 0, factor = 1;      ///< place = (value - offset) * factor, for logarithms to the base 2
    double least = 0, most = 0;         ///< limits of the place
    double smallest = 0, greatest = 0;  ///< limits of values before their logarithms are taken
  };

  /// Conversion of a place to an interval. Places are in units of 2^-shift of an interval, and unsure within `margin`
  /// of an edge.
  struct Rule {
    Scale scale{};
    bool logarithmic = false;
    int shift = 0;
    std::int32_t margin = 0;
    std::uint16_t unsure = 0;  ///< the place that marks unsure values
  };
  [[nodiscard]] const Rule& rule() const noexcept { return rule_; }

 private:
  Rule rule_;
};

// Counting of values by place with 512-bit instructions.

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
