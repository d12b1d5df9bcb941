// One pass over many values for all that conditions may ask about them: NaN, infinite values, extremes, sums.
//
// Values are read in groups. Each of eight lanes counts and compares by itself, without branches, so that the compiler
// uses vector instructions. Only groups with values that are not finite are read again for the sum.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "sidestream/data/box.hpp"
#include "sidestream/extend/exact_sum.hpp"

namespace sidestream {

class WatchedValues {
 public:
  explicit WatchedValues(bool sums) : sums_(sums) {}

  template <class T>
  void add(const T* values, Index n, Index stride) {
    std::array<double, group> some;  // NOLINT: read where it was written
    for (Index first = 0; first < n; first += group) {
      const Index count = std::min(group, n - first);
      if constexpr (std::is_same_v<T, double>) {
        if (stride == 1) {
          add_group(values + first, count);
          continue;
        }
      }
      for (Index i = 0; i < count; ++i) {
        some[static_cast<std::size_t>(i)] = static_cast<double>(values[(first + i) * stride]);
      }
      add_group(some.data(), count);
    }
  }

  [[nodiscard]] std::int64_t finite() const noexcept { return finite_; }
  [[nodiscard]] std::int64_t nan() const noexcept { return nan_; }
  [[nodiscard]] std::int64_t infinite() const noexcept { return infinite_; }
  /// The extremes of the finite values; the least is above the greatest if there is none.
  [[nodiscard]] double least() const noexcept { return *std::min_element(least_.begin(), least_.end()); }
  [[nodiscard]] double greatest() const noexcept { return *std::max_element(greatest_.begin(), greatest_.end()); }
  [[nodiscard]] const ExactSum& sum() const noexcept { return sum_; }

 private:
  static constexpr Index group = 1024;
  static constexpr std::size_t lanes = 8;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  void add_group(const double* values, Index count) {
    std::array<std::int64_t, lanes> numbers{}, finite{};
    const auto take = [&](double x, std::size_t lane) {
      const bool is_finite = std::fabs(x) <= std::numeric_limits<double>::max();
      const double low = is_finite ? x : infinity, high = is_finite ? x : -infinity;
      numbers[lane] += x == x ? 1 : 0;
      finite[lane] += is_finite ? 1 : 0;
      least_[lane] = low < least_[lane] ? low : least_[lane];
      greatest_[lane] = high > greatest_[lane] ? high : greatest_[lane];
    };
    Index i = 0;
    for (; i + static_cast<Index>(lanes) <= count; i += static_cast<Index>(lanes)) {
#pragma GCC unroll 8
      for (std::size_t lane = 0; lane < lanes; ++lane) take(values[i + static_cast<Index>(lane)], lane);
    }
    for (; i < count; ++i) take(values[i], 0);
    std::int64_t all = 0, good = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      all += numbers[lane];
      good += finite[lane];
    }
    nan_ += count - all;
    infinite_ += all - good;
    finite_ += good;
    if (sums_) add_sum({values, static_cast<std::size_t>(count)}, good == count);
  }

  void add_sum(std::span<const double> values, bool all_finite) {
    if (all_finite) return sum_.add(values);
    for (const double x : values) {
      if (std::isfinite(x)) sum_.add(x);
    }
  }

  bool sums_;
  std::int64_t finite_ = 0, nan_ = 0, infinite_ = 0;
  std::array<double, lanes> least_ = filled(infinity), greatest_ = filled(-infinity);
  ExactSum sum_;

  static constexpr std::array<double, lanes> filled(double value) {
    std::array<double, lanes> all{};
    all.fill(value);
    return all;
  }
};

}  // namespace sidestream
