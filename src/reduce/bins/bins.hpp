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
  }

  /// Edge n is 10^(l + n (h - l) / count) with the logarithms l and h of `low` and `high`, the first and the last those
  /// themselves. Both are above 0. A range that is too narrow reaches from half of `low` to twice `high`.
  [[nodiscard]] static Bins logarithmic(double low, double high, int count) {
    Bins bins;
    bins.count_ = count;
    if (!bins.set_powers(low, high))
      static_cast<void>(bins.set_powers(std::max(low / 2, least), std::min(2 * high, greatest)));
    bins.make_table();
    return bins;
  }

  [[nodiscard]] const std::vector<double>& edges() const noexcept { return edges_; }

  [[nodiscard]] bool by_ratio() const noexcept { return !table_.empty(); }

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
    constexpr std::uint64_t most = 1 << 16;
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

  static constexpr double greatest = 1.7976931348623157e308, least = 2.2250738585072014e-308;
  int count_ = 0;
  std::vector<double> edges_;
  double scale_ = 1;               ///< 0.5 if the width of the whole range is no double
  double step_ = 0, inverse_ = 0;  ///< times the scale
  std::vector<std::uint32_t> table_;
  int shift_ = 0;
  std::uint64_t first_ = 0;  ///< key of the table's first entry
};

}  // namespace sidestream
