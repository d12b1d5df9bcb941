#include "climate/over_time/accumulation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace sidestream::over_time {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// In held values: the block was not there in that iteration. A NaN that arithmetic does not give.
constexpr std::uint64_t absent_bits = 0x7ff8'5e1d'0000'ab5eULL;

/// Values from here on make their cell scaled. Squares of smaller ones, times weights and counts up to 2^62, are
/// finite.
constexpr double large = 0x1p480;
/// The factor of scaled cells, with which all finite values are small.
constexpr double factor_of_large = 0x1p-544;

bool is_large(double x) noexcept { return std::abs(x) >= large && !std::isinf(x); }
bool is_large_or_infinite(double x) noexcept { return std::abs(x) >= large; }

// The kernels. Their loops have no branches, so that compilers use wide instructions.

void add_moments(double* __restrict mean, double* __restrict spread, const double* __restrict x, std::size_t n,
                 double weight, double share) {
  for (std::size_t i = 0; i < n; ++i) {
    const double d = x[i] - mean[i], m = mean[i] + share * d;
    mean[i] = m;
    spread[i] += weight * d * (x[i] - m);
  }
}

void add_mean(double* __restrict mean, const double* __restrict x, std::size_t n, double share) {
  for (std::size_t i = 0; i < n; ++i) mean[i] += share * (x[i] - mean[i]);
}

void add_sum(double* __restrict sum, const double* __restrict x, std::size_t n, double weight) {
  for (std::size_t i = 0; i < n; ++i) sum[i] += weight * x[i];
}

/// NaN stays: it is neither less nor equal to itself.
void add_low(double* __restrict low, const double* __restrict x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) low[i] = (x[i] < low[i]) | (x[i] != x[i]) ? x[i] : low[i];
}
void add_high(double* __restrict high, const double* __restrict x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) high[i] = (x[i] > high[i]) | (x[i] != x[i]) ? x[i] : high[i];
}

/// Bits of doubles without their sign are in the order of the doubles. With `to_top` added, the top bit tells which are
/// large, infinite or NaN: compilers have wide instructions for that, but not for comparisons of doubles to one flag.
bool has_large_or_infinite(const double* __restrict x, std::size_t n) {
  constexpr std::uint64_t top = std::uint64_t{1} << 63, to_top = top - std::bit_cast<std::uint64_t>(large);
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < n; ++i) found |= (std::bit_cast<std::uint64_t>(x[i]) & ~top) + to_top;
  return (found & top) != 0 && std::any_of(x, x + n, is_large_or_infinite);
}

/// Calls f(number in `points`, number in `region`) for each value of a region.
template <class F>
void for_each_value(const Box& points, const Box& region, int components, Order order, F&& f) {
  const auto outer = packed_strides(points, components, order), inner = packed_strides(region, components, order);
  const auto offset = [](const Box& box, const std::array<Index, 4>& strides, Index i, Index j, Index k) {
    return (i - box.lo[0]) * strides[0] + (j - box.lo[1]) * strides[1] + (k - box.lo[2]) * strides[2];
  };
  for (Index k = region.lo[2]; k < region.hi[2]; ++k) {
    for (Index j = region.lo[1]; j < region.hi[1]; ++j) {
      for (Index i = region.lo[0]; i < region.hi[0]; ++i) {
        for (Index c = 0; c < components; ++c) {
          f(static_cast<std::size_t>(offset(points, outer, i, j, k) + c),
            static_cast<std::size_t>(offset(region, inner, i, j, k) + c));
        }
      }
    }
  }
}

}  // namespace

/// Calls f(array) for each array that is in use.
template <class Self, class F>
void Accumulation::for_each_array(Self& self, F&& f) {
  const auto use = [&](auto& array) {
    if (!array.empty()) f(array);
  };
  use(self.mean_), use(self.spread_), use(self.low_), use(self.high_), use(self.sum_);
  use(self.counts_), use(self.totals_), use(self.factors_);
  for (std::size_t n = 0; n < self.used_; ++n) use(self.held_[n]);
}

Accumulation::Accumulation(const Needed& needs, std::size_t size) : needs_(needs), size_(size) {
  const auto allot = [&](bool needed, std::vector<double>& array) {
    if (needed) array.resize(size);
  };
  allot(needs.mean || needs.spread, mean_);
  allot(needs.spread, spread_);
  allot(needs.low, low_);
  allot(needs.high, high_);
  allot(needs.sum, sum_);
  reset();
}

void Accumulation::reset() {
  for_each_array(*this, [](std::vector<double>& array) { std::fill(array.begin(), array.end(), 0.0); });
  std::fill(low_.begin(), low_.end(), infinity);
  std::fill(high_.begin(), high_.end(), -infinity);
  even_ = true;
  samples_ = total_ = 0;
  used_ = 0;
  counts_.clear();
  totals_.clear();
  factors_.clear();
  if (needs_.skip_nan) tell_apart();
}

/// From now on each value has its own count and weight.
void Accumulation::tell_apart() {
  if (!std::exchange(even_, false)) return;
  counts_.assign(size_, samples_);
  if (needs_.weighted) totals_.assign(size_, total_);
}

/// From now on each value has its own factor.
void Accumulation::scale_apart() {
  if (factors_.empty()) factors_.assign(size_, 1.0);
}

void Accumulation::prepare(std::size_t n) {
  while (needs_.held && held_.size() <= n) held_.emplace_back(size_);
  if (!mean_.empty() || !sum_.empty()) factors_.reserve(size_);  // pages that nobody writes take no memory
}

void Accumulation::begin(std::size_t n, double weight) {
  weight_ = weight;
  if (even_) {
    samples_ += 1;
    total_ += weight;
  }
  if (!needs_.held) return;
  for (; used_ < n; ++used_) std::fill(held_[used_].begin(), held_[used_].end(), std::bit_cast<double>(absent_bits));
  used_ = n + 1;
}

void Accumulation::add(std::size_t first, std::span<const double> values) {
  if (needs_.held) std::copy_n(values.data(), values.size(), held_[used_ - 1].data() + first);
  // Pieces stay in the cache from the search for large values to the sums.
  constexpr std::size_t piece = 2048;
  for (std::size_t at = 0; at < values.size(); at += piece) {
    add_piece(first + at, values.subspan(at, std::min(piece, values.size() - at)));
  }
}

void Accumulation::add_piece(std::size_t first, std::span<const double> values) {
  const std::size_t n = values.size();
  const double* const x = values.data();
  const bool sums = !mean_.empty() || !sum_.empty();
  if (sums && factors_.empty() && has_large_or_infinite(x, n)) scale_apart();
  if (!factors_.empty()) return add_each<true>(first, values);
  if (!even_) return add_each<false>(first, values);
  const double share = weight_ / total_;
  if (needs_.spread) {
    add_moments(mean_.data() + first, spread_.data() + first, x, n, weight_, share);
  } else if (needs_.mean) {
    add_mean(mean_.data() + first, x, n, share);
  }
  if (needs_.low) add_low(low_.data() + first, x, n);
  if (needs_.high) add_high(high_.data() + first, x, n);
  if (needs_.sum) add_sum(sum_.data() + first, x, n, weight_);
}

/// The same arithmetic for each value, so that values with the same history have the same bits.
template <bool scaled>
void Accumulation::add_each(std::size_t first, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = values[i];
    if (needs_.skip_nan && std::isnan(x)) continue;
    const std::size_t at = first + i;
    double total = total_;
    if (!even_) {
      counts_[at] += 1;
      if (needs_.weighted) totals_[at] += weight_;
      total = needs_.weighted ? totals_[at] : counts_[at];
    }
    const double share = weight_ / total, value = scaled ? scale(at, x) : x;
    const double before = scaled && !mean_.empty() ? mean_[at] : 0;
    if (needs_.spread) {
      add_moments(&mean_[at], &spread_[at], &value, 1, weight_, share);
    } else if (needs_.mean) {
      add_mean(&mean_[at], &value, 1, share);
    }
    if (scaled && std::isinf(before)) mean_[at] = before + value;  // the distance from it would give NaN
    if (needs_.low) add_low(&low_[at], &x, 1);
    if (needs_.high) add_high(&high_[at], &x, 1);
    if (needs_.sum) add_sum(&sum_[at], &value, 1, weight_);
  }
}

/// A value as its cell has it: with a large one the cell is scaled from now on.
double Accumulation::scale(std::size_t at, double value) {
  double& factor = factors_[at];
  if (factor == 1 && is_large(value)) {
    factor = factor_of_large;
    if (!mean_.empty()) mean_[at] *= factor;
    if (!spread_.empty()) spread_[at] = spread_[at] * factor * factor;
    if (!sum_.empty()) sum_[at] *= factor;
  }
  return value * factor;
}

/// Between the two nearest of the sorted values, as NumPy's method `linear`.
std::vector<double> Accumulation::quantiles(double q) const {
  std::vector<double> found(size_, nan), sorted;
  for (std::size_t i = 0; i < size_; ++i) {
    sorted.clear();
    bool spoilt = false;
    for (std::size_t n = 0; n < used_; ++n) {
      const double x = held_[n][i];
      if (std::bit_cast<std::uint64_t>(x) == absent_bits) continue;
      if (!std::isnan(x)) {
        sorted.push_back(x);
      } else {
        spoilt |= !needs_.skip_nan;
      }
    }
    if (spoilt || sorted.empty()) continue;
    std::sort(sorted.begin(), sorted.end());
    const double at = q * static_cast<double>(sorted.size() - 1), below = std::floor(at);
    const double low = sorted[static_cast<std::size_t>(below)];
    const double high = sorted[std::min(static_cast<std::size_t>(below) + 1, sorted.size() - 1)];
    const double part = at - below;
    const bool apart = std::isinf(high - low) && std::isfinite(low) && std::isfinite(high);
    found[i] = low == high || part == 0 ? low : apart ? (1 - part) * low + part * high : low + part * (high - low);
  }
  return found;
}

Bytes Accumulation::result(Statistic statistic, double quantile) const {
  const auto count = [&](std::size_t i) { return even_ ? samples_ : counts_[i]; };
  const auto total = [&](std::size_t i) { return even_ ? total_ : needs_.weighted ? totals_[i] : counts_[i]; };
  const auto each = [&](auto&& value) {
    std::vector<decltype(value(0))> values(size_);
    for (std::size_t i = 0; i < size_; ++i) values[i] = value(i);
    return bytes_of(values);
  };
  const auto factor = [&](std::size_t i) { return factors_.empty() ? 1.0 : factors_[i]; };
  const auto counted = [&](const std::vector<double>& array) {
    return each([&](std::size_t i) { return count(i) > 0 ? array[i] : nan; });
  };
  switch (statistic) {
    case Statistic::mean:
      return each([&](std::size_t i) { return count(i) > 0 ? mean_[i] / factor(i) : nan; });
    case Statistic::minimum:
      return counted(low_);
    case Statistic::maximum:
      return counted(high_);
    case Statistic::variance:
      return each([&](std::size_t i) { return count(i) > 0 ? spread_[i] / total(i) / factor(i) / factor(i) : nan; });
    case Statistic::standard_deviation:
      return each([&](std::size_t i) { return count(i) > 0 ? std::sqrt(spread_[i] / total(i)) / factor(i) : nan; });
    case Statistic::sum:
      return each([&](std::size_t i) { return sum_[i] / factor(i); });
    case Statistic::count:
      return each([&](std::size_t i) { return static_cast<std::int64_t>(count(i)); });
    case Statistic::quantile:
      break;
  }
  return bytes_of(quantiles(quantile));
}

std::size_t Accumulation::bytes() const noexcept {
  std::size_t arrays = held_.size();
  for (const auto* array : {&mean_, &spread_, &low_, &high_, &sum_, &counts_, &totals_, &factors_})
    arrays += !array->empty();
  return arrays * size_ * sizeof(double);
}

Accumulation Accumulation::part(const Box& points, const Box& region, int components, Order order) const {
  Accumulation part = *this;
  part.size_ = static_cast<std::size_t>(region.count()) * static_cast<std::size_t>(components);
  part.held_.resize(used_);
  for_each_array(part, [&](std::vector<double>& array) {
    std::vector<double> some(part.size_);
    for_each_value(points, region, components, order,
                   [&](std::size_t outer, std::size_t inner) { some[inner] = array[outer]; });
    array = std::move(some);
  });
  return part;
}

void Accumulation::take(const Accumulation& from, const Box& region, const Box& points, int components, Order order,
                        std::vector<std::uint8_t>& taken) {
  if (region == points && std::ranges::none_of(taken, [](std::uint8_t one) { return one != 0; })) {
    *this = from;
    std::fill(taken.begin(), taken.end(), std::uint8_t{1});
    return;
  }
  Accumulation source = from;
  source.tell_apart();
  tell_apart();
  if (!source.factors_.empty()) scale_apart();
  if (!factors_.empty()) source.scale_apart();
  if (source.used_ > 0) prepare(source.used_ - 1);
  for (; used_ < source.used_; ++used_)
    std::fill(held_[used_].begin(), held_[used_].end(), std::bit_cast<double>(absent_bits));
  std::vector<const std::vector<double>*> sources;
  for_each_array(source, [&](const std::vector<double>& array) { sources.push_back(&array); });
  std::size_t n = 0;
  for_each_array(*this, [&](std::vector<double>& array) {
    if (n == sources.size()) return;  // iterations that the source has not seen
    const std::vector<double>& other = *sources[n++];
    for_each_value(points, region, components, order, [&](std::size_t outer, std::size_t inner) {
      if (taken[outer] == 0) array[outer] = other[inner];
    });
  });
  for_each_value(points, region, components, order, [&](std::size_t outer, std::size_t) { taken[outer] = 1; });
}

void Accumulation::put(ByteWriter& writer) const {
  writer.put(std::uint64_t{size_});
  writer.put(even_);
  writer.put(samples_);
  writer.put(total_);
  writer.put(std::uint64_t{used_});
  writer.put(!factors_.empty());
  for_each_array(*this, [&](const std::vector<double>& array) { writer.put_all(std::span(array)); });
}

Accumulation Accumulation::got(ByteReader& reader, const Needed& needs) {
  Accumulation one(needs, reader.get<std::uint64_t>());
  const auto even = reader.get<bool>();
  reader.get(one.samples_);
  reader.get(one.total_);
  const auto used = reader.get<std::uint64_t>();
  if (reader.get<bool>()) one.scale_apart();
  if (!even) one.tell_apart();
  if (used > 0) one.prepare(used - 1);
  one.used_ = used;
  for_each_array(one, [&](std::vector<double>& array) { reader.get_all(array, one.size_); });
  return one;
}

}  // namespace sidestream::over_time
