// Intervals of equal width, or of equal ratios, with edges that counts agree with exactly.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sidestream {

/// `count` intervals from `low` to `high`: edge n is low + n (high - low) / count, the last one `high`
/// itself. A range too narrow for that many different edges is widened by 0.5, or a millionth of its size, on
/// each side.
class Bins {
 public:
  Bins(double low, double high, int count) : count_(count) {
    set_step(low, high);
    if (!distinct(low, high)) {
      const double margin = std::max(0.5, 1e-6 * std::max(std::fabs(low), std::fabs(high)));
      low = std::max(low - margin, -greatest);
      high = std::min(high + margin, greatest);
      set_step(low, high);
    }
    edges_.resize(static_cast<std::size_t>(count) + 1);
    for (int n = 0; n < count; ++n) edges_[static_cast<std::size_t>(n)] = (low * scale_ + n * step_) / scale_;
    edges_.back() = high;
    inverse_ = 1 / step_;
    make_sure();
  }

  /// Edge n is 10^(l + n (h - l) / count) with the logarithms l and h of `low` and `high`, the first and the last those
  /// themselves. Both are above 0. A range that is too narrow reaches from half of `low` to twice `high`.
  [[nodiscard]] static Bins logarithmic(double low, double high, int count) {
    Bins bins;
    bins.count_ = count;
    if (!bins.set_powers(low, high))
      static_cast<void>(bins.set_powers(std::max(low / 2, least), std::min(2 * high, greatest)));
    bins.make_table();
    bins.make_sure_of_table();
    return bins;
  }

  [[nodiscard]] const std::vector<double>& edges() const noexcept { return edges_; }

  /// Adds one for each of `n` values to its slot of `even` or `odd`, by turns: neighbours are often in one interval,
  /// and then one addition would wait for the other.
  template <class Count>
  void count(const double* values, std::int64_t n, Count* even, Count* odd) const noexcept {
    const std::array<Count*, 2> counts{even, odd};
    if (sure_.empty()) {
      for (std::int64_t i = 0; i < n; ++i) ++even[slot(values[i])];
    } else if (table_.empty()) {
      count_sure(values, n, counts, [low = edges_.front(), f = cells_by_value_](double v) {
        // What is no number, or beyond, becomes the least whole number: a key beyond all.
        const double place = (v - low) * f;
        return place < 0x1p62 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(place > -0x1p62 ? place : -1))
                              : ~std::uint64_t{0};
      });
    } else {
      count_sure(values, n, counts, [shift = shift_, first = first_](double v) {
        return (std::bit_cast<std::uint64_t>(v) >> shift) - first;
      });
    }
  }

  /// 0 .. count - 1: the interval of `v`; count: below; count + 1: above; count + 2: not a number. The
  /// interval is guessed and put right by the edges, so that a table's edges and counts never
  /// disagree.
  [[nodiscard]] std::size_t slot(double v) const noexcept {
    const auto count = static_cast<std::size_t>(count_);
    if (!(v >= edges_.front())) return std::isnan(v) ? count + 2 : count;
    if (v > edges_.back()) return count + 1;
    std::size_t bin = 0;
    if (!table_.empty()) {
      bin = table_[(std::bit_cast<std::uint64_t>(v) >> shift_) - first_];
    } else {
      // The range of a guess may be beyond the whole numbers where the step is tiny.
      const double guess = (v * scale_ - edges_.front() * scale_) * inverse_;
      bin = guess < static_cast<double>(count_ - 1) ? static_cast<std::size_t>(static_cast<std::int64_t>(guess))
                                                    : count - 1;
      while (bin > 0 && v < edges_[bin]) --bin;
    }
    while (bin + 1 < count && v >= edges_[bin + 1]) ++bin;
    return bin;
  }

 private:
  Bins() = default;

  static constexpr std::uint16_t unsure = 0xffff;

  /// `key` says in which of many narrow cells a value is; most cells lie in one interval.
  template <class Count, class Key>
  void count_sure(const double* values, std::int64_t n, const std::array<Count*, 2>& counts, Key&& key) const noexcept {
    const std::uint16_t* const sure = sure_.data();
    const std::uint64_t size = sure_.size();
    const auto add = [&](double v, Count* to) {
      const std::uint64_t at = key(v);
      const std::uint16_t bin = at < size ? sure[at] : unsure;
      ++to[bin != unsure ? bin : slot(v)];
    };
    std::int64_t i = 0;
    for (; i + 1 < n; i += 2) {
      add(values[i], counts[0]);
      add(values[i + 1], counts[1]);
    }
    if (i < n) add(values[i], counts[0]);
  }

  /// Cells of equal width, many for each interval. Those next to an edge are not sure, so that a cell that rounding
  /// missed by one is as good.
  void make_sure() {
    const double reach = std::max(std::fabs(edges_.front()), std::fabs(edges_.back()));
    std::uint64_t each = 64;
    while (each > 3 && each * static_cast<std::uint64_t>(count_) > most_cells) each /= 2;
    cells_by_value_ = inverse_ * static_cast<double>(each);
    if (each < 4 || scale_ != 1 || !std::isfinite(cells_by_value_) || !(reach * cells_by_value_ * 0x1p-50 < 0.25))
      return;
    for (std::uint64_t at = 0; at < each * static_cast<std::uint64_t>(count_); ++at) {
      const bool inner = at % each != 0 && at % each != each - 1;
      sure_.push_back(inner ? static_cast<std::uint16_t>(at / each) : unsure);
    }
  }

  /// Cells of the table all of whose numbers are in one interval.
  void make_sure_of_table() {
    if (count_ >= unsure || table_.size() < 2) return;
    for (std::size_t at = 0; at + 1 < table_.size(); ++at) {
      const double next = std::bit_cast<double>((first_ + at + 1) << shift_);
      const bool whole =
          at > 0 && (table_[at] + 1 == static_cast<std::uint32_t>(count_) || next <= edges_[table_[at] + 1]);
      sure_.push_back(whole ? static_cast<std::uint16_t>(table_[at]) : unsure);
    }
  }

  /// Whether rounding leaves the edges in ascending order.
  [[nodiscard]] bool distinct(double low, double high) const noexcept {
    const double first = low * scale_, last = high * scale_;
    return first + step_ > first && last - step_ < last && first + (count_ - 1) * step_ < last;
  }

  void set_step(double low, double high) noexcept {
    scale_ = std::isfinite(high - low) ? 1 : 0.5;
    step_ = (high * scale_ - low * scale_) / count_;
  }

  bool set_powers(double low, double high) {
    const double first = std::log10(low), last = std::log10(high);
    edges_.assign(1, low);
    for (int n = 1; n < count_; ++n) edges_.push_back(std::pow(10.0, first + n * (last - first) / count_));
    edges_.push_back(high);
    return std::adjacent_find(edges_.begin(), edges_.end(), [](double a, double b) { return !(a < b); }) ==
           edges_.end();
  }

  /// For numbers above 0 that agree in their first bits the interval of the least of them. Between two powers of two
  /// there are as many entries as it takes for most of them to be in one interval.
  void make_table() {
    constexpr std::uint64_t most = most_cells;
    const auto key = [&](double v) { return std::bit_cast<std::uint64_t>(v) >> shift_; };
    const double octaves = std::max(1.0, std::log2(edges_.back() / edges_.front()));
    int bits = 1;
    while (bits < 20 && (1 << bits) < 32 * count_ / octaves) ++bits;
    shift_ = 52 - bits;
    while (key(edges_.back()) - key(edges_.front()) >= most) ++shift_;
    first_ = key(edges_.front());
    std::size_t bin = 0;
    for (std::uint64_t at = first_; at <= key(edges_.back()); ++at) {
      const double lowest = std::bit_cast<double>(at << shift_);
      while (bin + 1 < static_cast<std::size_t>(count_) && lowest >= edges_[bin + 1]) ++bin;
      table_.push_back(static_cast<std::uint32_t>(bin));
    }
  }

  static constexpr std::uint64_t most_cells = 1 << 16;
  static constexpr double greatest = 1.7976931348623157e308, least = 2.2250738585072014e-308;
  int count_ = 0;
  std::vector<double> edges_;
  double scale_ = 1;               ///< 0.5 if the width of the whole range is no double
  double step_ = 0, inverse_ = 0;  ///< times the scale
  std::vector<std::uint32_t> table_;
  int shift_ = 0;
  std::uint64_t first_ = 0;          ///< key of the table's first entry
  std::vector<std::uint16_t> sure_;  ///< of each cell its interval, or `unsure`
  double cells_by_value_ = 0;        ///< cells of equal width in a unit of values
};

}  // namespace sidestream
