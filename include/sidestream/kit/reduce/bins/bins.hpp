// Intervals of equal width, or of equal ratios, whose edges agree exactly with the counts.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// `count` intervals from `low` to `high`: edge n is low + n (high - low) / count, the last one exactly `high`. If the
/// range is too narrow for so many different edges, it is widened on each side by 0.5, or by a millionth of its size.
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

  /// Makes intervals of equal ratios. Edge n is 10^(l + n (h - l) / count) with the logarithms l and h of `low` and
  /// `high`; the first and last edges are exactly `low` and `high`. Both are above 0. A range that is too narrow
  /// extends from half of `low` to twice `high`.
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

  /// The interval of `v`, 0 .. count - 1; count: below; count + 1: above; count + 2: not a number. The interval is
  /// guessed and corrected by the edges, so that a table's edges and counts never disagree.
  [[nodiscard]] std::size_t slot(double v) const noexcept {
    const auto count = static_cast<std::size_t>(count_);
    if (!(v >= edges_.front())) return std::isnan(v) ? count + 2 : count;
    if (v > edges_.back()) return count + 1;
    std::size_t bin = 0;
    if (!table_.empty()) {
      bin = table_[(std::bit_cast<std::uint64_t>(v) >> shift_) - first_];
    } else {
      // The guess may exceed the range of whole numbers where the step is tiny.
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

  /// True if rounding leaves the edges in ascending order.
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

  /// Builds a table for numbers above 0. For all numbers with the same leading bits, it has the interval of the least
  /// of them. Each octave has so many entries that most of them lie in one interval.
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
  double scale_ = 1;               ///< 0.5 if the width of the whole range exceeds all doubles
  double step_ = 0, inverse_ = 0;  ///< multiplied by the scale
  std::vector<std::uint32_t> table_;
  int shift_ = 0;
  std::uint64_t first_ = 0;  ///< key of the table's first entry
};

}  // namespace sidestream

// log2, accurate enough for a guess. It is the exponent plus a polynomial that interpolates the logarithm of the
// mantissa at Chebyshev points of 1 ... 2.
namespace sidestream::rough_logarithm {

/// Error of the polynomial, and of rounding the number and the sum to 24 bits.
constexpr double error = 2.6e-6;

/// Coefficients by powers of the distance from `middle`, the highest first.
constexpr float middle = 1.5f, first = -0.024568534745087942f,
                terms[] = {0.04390747983075828f,  -0.07079685998119041f, 0.1417247357974217f,
                           -0.32061303548492204f, 0.9618208211752002f,   0.5849625007211561f};

/// The logarithm of a normal number above 0.
[[gnu::always_inline]] inline float of(float x) noexcept {
  const auto bits = std::bit_cast<std::int32_t>(x);
  const auto exponent = static_cast<float>((bits >> 23) - 127);
  const float u = std::bit_cast<float>((bits & 0x7fffff) | 127 << 23) - middle;
  float sum = first;
#pragma GCC unroll 8
  for (const float term : terms) sum = sum * u + term;
  return exponent + sum;
}

}  // namespace sidestream::rough_logarithm

// Iteration over the counting points of a block, line by line, in several variables at once.
namespace sidestream {

/// A component of a variable's block.
struct BlockField {
  const BlockView* view = nullptr;
  int component = 0;
};

/// Returns `count` numbers as doubles, along the axis that is fastest in memory, from `from` numbers after `first` on.
/// Contiguous doubles stay in place; other numbers are copied to `room`.
[[nodiscard]] inline const double* line_of(const ArrayView& array, int component, const Index3& first, int axis,
                                           Index begin, Index count, std::vector<double>& room) {
  const Index stride = array.strides[static_cast<std::size_t>(axis)];
  if (array.type == Type::float64 && stride == 1) {
    return array.at<double>(first[0], first[1], first[2], component) + begin;
  }
  room.resize(static_cast<std::size_t>(count));
  with_type(array.type, [&](auto zero) {
    using T = decltype(zero);
    const T* from = array.at<T>(first[0], first[1], first[2], component) + begin * stride;
    for (Index i = 0; i < count; ++i) room[static_cast<std::size_t>(i)] = static_cast<double>(from[i * stride]);
  });
  return room.data();
}

/// Calls f(std::span<const double* const, n>, count) for runs of numbers of n fields in the same points. Together the
/// runs are the first block's counting points, each once. All blocks have these points.
template <std::size_t n, class F>
void for_each_line(const std::array<BlockField, n>& fields, F&& f) {
  const BlockView& view = *fields[0].view;
  const auto& strides = view.array.strides;
  const int fast = strides[2] < strides[0] ? 2 : 0, slow = 2 - fast;
  std::array<std::vector<double>, n> room;
  std::array<const double*, n> lines{};
  constexpr Index most = 4096;  // fits the first-level cache
  const auto part = [&](Index3 first, Index count) {
    for (std::size_t v = 0; v < n; ++v) {
      lines[v] = line_of(fields[v].view->array, fields[v].component, first, fast, 0, count, room[v]);
    }
    f(std::span<const double* const, n>(lines), count);
  };
  const auto run = [&](Index3 first, Index end) {
    const auto axis = static_cast<std::size_t>(fast);
    for (; first[axis] < end; first[axis] += most) part(first, std::min(most, end - first[axis]));
  };
  const auto plane = [&](Index3 first, Index count) {
    for (Index done = 0; done < count; done += most) {
      for (std::size_t v = 0; v < n; ++v) {
        const ArrayView& array = fields[v].view->array;
        lines[v] = line_of(array, fields[v].component, first, fast, done, std::min(most, count - done), room[v]);
      }
      f(std::span<const double* const, n>(lines), std::min(most, count - done));
    }
  };
  for (const Box& box : view.counted()) {
    Index3 p = box.lo;
    // Consecutive lines without a gap are one line.
    bool whole = view.ghosts.data == nullptr && box.extent(fast) > 0;
    for (const BlockField& field : fields) {
      const auto& own = field.view->array.strides;
      whole = whole && own[1] == own[static_cast<std::size_t>(fast)] * box.extent(fast);
    }
    if (whole) {
      for (p[slow] = box.lo[slow]; p[slow] < box.hi[slow]; ++p[slow]) plane(p, box.extent(fast) * box.extent(1));
      continue;
    }
    for (p[slow] = box.lo[slow]; p[slow] < box.hi[slow]; ++p[slow]) {
      for (p[1] = box.lo[1]; p[1] < box.hi[1]; ++p[1]) {
        if (view.ghosts.data == nullptr) {
          run(p, box.hi[fast]);
          continue;
        }
        Index3 first = p;
        for (Index i = box.lo[fast]; i <= box.hi[fast]; ++i) {
          Index3 here = p;
          here[fast] = i;
          if (i < box.hi[fast] && *view.ghosts.at<std::uint8_t>(here[0], here[1], here[2]) == 0) continue;
          run(first, i);
          first[fast] = i + 1;
        }
      }
    }
  }
}

}  // namespace sidestream
