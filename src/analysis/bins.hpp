// Intervals of equal width, with edges that counts agree with exactly.
#pragma once

#include <algorithm>
#include <cmath>
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
  }

  [[nodiscard]] const std::vector<double>& edges() const noexcept { return edges_; }

  /// 0 .. count - 1: the interval of `v`; count: below; count + 1: above; count + 2: not a number. The
  /// interval is guessed by a division and put right by the edges, so that a table's edges and counts never
  /// disagree.
  [[nodiscard]] std::size_t slot(double v) const noexcept {
    const auto count = static_cast<std::size_t>(count_);
    if (!(v >= edges_.front())) return std::isnan(v) ? count + 2 : count;
    if (v > edges_.back()) return count + 1;
    const double guess = (v * scale_ - edges_.front() * scale_) / step_;
    auto bin = static_cast<std::size_t>(std::clamp(guess, 0.0, static_cast<double>(count_ - 1)));
    while (bin > 0 && v < edges_[bin]) --bin;
    while (bin + 1 < count && v >= edges_[bin + 1]) ++bin;
    return bin;
  }

 private:
  /// Whether rounding leaves the edges in ascending order.
  [[nodiscard]] bool distinct(double low, double high) const noexcept {
    const double first = low * scale_, last = high * scale_;
    return first + step_ > first && last - step_ < last && first + (count_ - 1) * step_ < last;
  }

  void set_step(double low, double high) noexcept {
    scale_ = std::isfinite(high - low) ? 1 : 0.5;
    step_ = (high * scale_ - low * scale_) / count_;
  }

  static constexpr double greatest = 1.7976931348623157e308;
  int count_;
  std::vector<double> edges_;
  double scale_ = 1;  ///< 0.5 if the width of the whole range is no double
  double step_ = 0;   ///< times the scale
};

}  // namespace sidestream
