// In which intervals many values are, as far as that can be told quickly.
#pragma once

#include <cstdint>

#include "reduce/bins/bins.hpp"
#include "sidestream/data/box.hpp"

namespace sidestream {

/// Where values lie among the intervals of Bins is computed several at a time, as whole numbers of 2^-shift of an
/// interval. That is a guess, whose error is bounded: what is so near an edge that the bound does not tell the interval
/// is `unsure`, and so everything else is what Bins::slot says.
class BinGuess {
 public:
  static constexpr Index most = 1024;  ///< values at a time

  explicit BinGuess(const Bins& bins);
  /// False where intervals are too many or too narrow for guesses.
  [[nodiscard]] bool possible() const noexcept { return rule_.shift > 0; }

  /// Of n <= most values places[i]: 0 below, 1 ... count in an interval, count + 1 above, count + 2 unsure. What is no
  /// number is below.
  struct Found {
    Index unsure = 0, none = 0;  ///< how many; `none`: no numbers
  };
  Found run(const double* values, Index n, std::uint16_t* places) const noexcept;

  /// A place, of what is so far below and above that it need not be told how far, and a unit of the place.
  struct Scale {
    double offset = 0, factor = 1;      ///< place = (value - offset) * factor, of logarithms to the base 2
    double least = 0, most = 0;         ///< of the place
    double smallest = 0, greatest = 0;  ///< values whose logarithms are taken of those beyond
  };

  /// How a place becomes an interval: in units of an interval's 2^-shift, unsure where it is no more than `margin` from
  /// an edge.
  struct Rule {
    Scale scale{};
    bool logarithmic = false;
    int shift = 0;
    std::int32_t margin = 0;
    std::uint16_t unsure = 0;  ///< the place of what is
  };
  [[nodiscard]] const Rule& rule() const noexcept { return rule_; }

 private:
  Rule rule_;
};

}  // namespace sidestream
