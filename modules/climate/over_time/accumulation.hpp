// Sums, extremes and held values of a variable on one block while a window lasts.
//
// Each iteration is one pass over the values, which takes them up in the order of iterations (Welford, 1962; weights
// after West, 1979). With W the sum of the weights w so far, this one included, and m the mean:
//
//   d = x - m;  m += (w / W) d;  s += w d (x - m)        the variance is s / W
//
// The order of operations for a value depends on nothing but the iterations, so neither do the bits. The relative error
// of the mean of n values is at most about 2 n eps (mean of |x|) / |mean|, that of the variance n eps sqrt(1 + mean^2 /
// variance), as for the two-pass algorithm within a small factor (Chan, Golub, LeVeque, 1983).
//
// Squares and sums of values near the largest double would overflow although mean, deviation and sum need not. So a
// cell with such a value is kept scaled by a power of two, which changes no bit of the arithmetic.
//
// An infinite mean stays as it is, or becomes NaN with an infinity of the other sign, in any order of the values. The
// variance is NaN then. Blocks with an infinity take the way of scaled ones, so that others need no test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/array.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream::over_time {

enum class Statistic : std::int32_t { mean, minimum, maximum, variance, standard_deviation, sum, count, quantile };

/// The sums that the statistics of a task need.
struct Needed {
  bool mean = false, spread = false, low = false, high = false, sum = false;
  bool held = false;      ///< all values of the window
  bool skip_nan = false;  ///< NaN does not count; otherwise results with one are NaN
  bool weighted = false;  ///< weights differ from 1
};

class Accumulation {
 public:
  Accumulation() = default;
  Accumulation(const Needed& needs, std::size_t size);

  /// Makes room for iteration `n` of the window. Afterwards `begin` and `add` need no memory.
  void prepare(std::size_t n);
  /// Begins iteration `n` of the window, for which `add` is called once for each value.
  void begin(std::size_t n, double weight);
  /// Adds values from number `first` on.
  void add(std::size_t first, std::span<const double> values);
  /// Begins a new window; memory stays.
  void reset();

  /// A statistic of each value: doubles, or for the count std::int64_t. Values that never counted give NaN, and 0 for
  /// sums and counts.
  [[nodiscard]] Bytes result(Statistic statistic, double quantile) const;
  [[nodiscard]] bool empty() const noexcept { return even_ ? samples_ == 0 : false; }
  [[nodiscard]] std::size_t bytes() const noexcept;

  /// The part of it over `region` of the array `points`.
  [[nodiscard]] Accumulation part(const Box& points, const Box& region, int components, Order order) const;
  /// Takes over `from`, which covers `region`, where `taken` is 0, and sets that. `taken` has an entry for each value
  /// over `points`.
  void take(const Accumulation& from, const Box& region, const Box& points, int components, Order order,
            std::vector<std::uint8_t>& taken);
  void put(ByteWriter& writer) const;
  [[nodiscard]] static Accumulation got(ByteReader& reader, const Needed& needs);

 private:
  template <class Self, class F>
  static void for_each_array(Self& self, F&& f);
  void tell_apart();
  void scale_apart();
  void add_piece(std::size_t first, std::span<const double> values);
  template <bool scaled>
  void add_each(std::size_t first, std::span<const double> values);
  double scale(std::size_t at, double value);
  [[nodiscard]] std::vector<double> quantiles(double q) const;

  Needed needs_;
  std::size_t size_ = 0;
  bool even_ = true;  ///< all values have the same count and weight
  double samples_ = 0, total_ = 0, weight_ = 1;
  std::vector<double> mean_, spread_, low_, high_, sum_;
  std::vector<double> counts_, totals_;    ///< by value if not even
  std::vector<double> factors_;            ///< by value, of its mean, spread and sum; empty: none was large or infinite
  std::vector<std::vector<double>> held_;  ///< by iteration of the window; its first `used_` count
  std::size_t used_ = 0;
};

}  // namespace sidestream::over_time
