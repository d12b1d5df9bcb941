// The first pass reads the values once for counts, extremes and sums. Statistics that need more have further passes:
//
// - entropy: one, which counts values in equal intervals between the extremes
// - the place of an extreme: one, which looks for the lowest coordinate of the points that have it
// - quantile: a search among the 64-bit order keys of the values. Each pass counts the values in 8192 equal parts of an
//   interval of keys, and continues in the part with the wanted value. At most five passes leave one key.
//
// Only whole numbers are added over servers, so results do not depend on the division.
#include "reduce/triggers/trigger_statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "reduce/triggers/watched_values.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"
#include "sidestream/kit/mesh/runs.hpp"
#include "sidestream/kit/reduce/bins/bin_counts.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"
#include "sidestream/kit/reduce/words.hpp"

namespace sidestream {

namespace {

using What = Statistic::What;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

bool is_place(What what) { return what == What::at_max || what == What::at_min; }

/// The first pass's result for one component of a variable; the same bits however the points are divided.
struct Gathered {
  static constexpr std::size_t added = 3 + ExactSum::words, least = 2;
  std::int64_t count = 0, nan = 0, infinite = 0;
  std::int64_t lowest = least_of_none, highest = least_of_none;  ///< order keys; the second is the least of all ~key
  ExactSum sum;

  [[nodiscard]] double low() const { return from_order_key(lowest); }
  [[nodiscard]] double high() const { return from_order_key(~highest); }

  [[nodiscard]] double get(What what) const {
    if (what == What::nan) return static_cast<double>(nan);
    if (what == What::infinite) return static_cast<double>(infinite);
    if (count == 0) return unknown;
    if (what == What::minimum) return low();
    if (what == What::maximum) return high();
    return what == What::mean ? quotient_of(sum, static_cast<double>(count)) : sum.value();
  }
};

/// A component of a variable.
struct Part {
  std::int32_t variable = -1, component = 0;
  bool sums = false;  ///< some statistic needs the sum
  Gathered total{};   ///< of all servers, after the first pass
};

/// The search for a quantile; the same on every server.
class QuantileSearch {
 public:
  static constexpr int bits = 13, passes = 5;

  QuantileSearch() = default;
  QuantileSearch(const Gathered& all, double share)
      : low_(all.lowest), high_(~all.highest), below_(rank(share, all.count)) {}

  [[nodiscard]] bool found() const noexcept { return low_ == high_; }
  [[nodiscard]] double value() const noexcept { return from_order_key(low_); }

  /// Adds the values in each part of the interval to `counts`.
  template <class T>
  void count(const T* values, Index n, Index stride, std::span<std::int64_t> counts) const {
    const int shift = this->shift();
    for (Index i = 0; i < n; ++i) {
      const auto x = static_cast<double>(values[i * stride]);
      if (!std::isfinite(x)) continue;
      const std::int64_t key = order_key(x);
      if (key < low_ || key > high_) continue;
      ++counts[static_cast<std::size_t>(distance(low_, key) >> shift)];
    }
  }

  void narrow(std::span<const std::int64_t> counts) {
    const int shift = this->shift();
    std::size_t part = 0;
    while (part + 1 < counts.size() && below_ >= counts[part]) below_ -= counts[part++];
    const std::uint64_t first = std::bit_cast<std::uint64_t>(low_) + (static_cast<std::uint64_t>(part) << shift);
    low_ = std::bit_cast<std::int64_t>(first);
    const std::uint64_t width = (std::uint64_t{1} << shift) - 1;
    if (distance(low_, high_) > width) high_ = std::bit_cast<std::int64_t>(first + width);
  }

 private:
  /// The number of values below the quantile: it is the least value that at least this share does not exceed.
  static std::int64_t rank(double share, std::int64_t count) {
    const auto last = static_cast<double>(count - 1);
    return static_cast<std::int64_t>(std::clamp(std::ceil(share * static_cast<double>(count)) - 1, 0.0, last));
  }
  static std::uint64_t distance(std::int64_t from, std::int64_t to) noexcept {
    return std::bit_cast<std::uint64_t>(to) - std::bit_cast<std::uint64_t>(from);
  }
  [[nodiscard]] int shift() const noexcept {
    return std::max(0, static_cast<int>(std::bit_width(distance(low_, high_))) - bits);
  }

  std::int64_t low_ = 0, high_ = 0, below_ = 0;  ///< below_: values in the interval that are less than the quantile
};

/// Shannon entropy in nats of counts in intervals.
double entropy_of(std::span<const std::int64_t> counts, std::int64_t all) {
  double total = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(all);
    total -= share * std::log(share);
  }
  return total + 0.0;
}

/// The least order key of the coordinates of the points of a block that have the value `wanted`.
std::int64_t lowest_place(const BlockView& view, const Variable& variable, const Mesh& mesh, const Statistic& of,
                          double wanted) {
  const LevelAxes axes(mesh, view.block.level);
  const int axis = static_cast<int>(of.parameter);
  std::int64_t least = least_of_none;
  with_type(view.array.type, [&](auto zero) {
    using T = decltype(zero);
    for (const Box& box : view.counted()) {
      for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
        for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
          for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
            if (static_cast<double>(*view.array.at<T>(i, j, k, of.component)) != wanted) continue;
            if (view.ghosts.data != nullptr && *view.ghosts.at<std::uint8_t>(i, j, k) != 0) continue;
            const Index at = axis == 0 ? i : axis == 1 ? j : k;
            least = std::min(least, order_key(axes.position(variable.centering, axis, at)));
          }
        }
      }
    }
  });
  return least;
}

class TriggerStatistics final : public Task {
 public:
  explicit TriggerStatistics(const std::vector<Statistic>& wanted) : wanted_(wanted), searches_(wanted.size()) {
    for (const Statistic& one : wanted_) {
      Part& part = part_of(one);
      part.sums |= one.what == What::mean || one.what == What::sum;
      if (one.what == What::entropy || is_place(one.what)) passes_ = std::max(passes_, 2);
      if (one.what == What::quantile) passes_ = 1 + QuantileSearch::passes;
    }
  }

  [[nodiscard]] Selection selection() const override {
    Selection selection;
    for (const Part& part : parts_) {
      const auto is_known = [&](const Selected& s) { return s.variable == part.variable; };
      const std::vector<Selected>& known = selection.variables;
      if (std::none_of(known.begin(), known.end(), is_known)) selection.variables.emplace_back(part.variable, 0);
    }
    for (Selected& selected : selection.variables) selected.covered = false;
    selection.geometry = false;
    return selection;
  }

  [[nodiscard]] int passes() const override { return passes_; }

  [[nodiscard]] Bytes local(const LocalInput& input) override {
    if (input.pass == 0) return first_pass(input);
    SumsAndLeast partial;
    for (std::size_t n = 0; n < wanted_.size(); ++n) {
      if (!goes_on(n, input.pass)) continue;
      if (is_place(wanted_[n].what)) {
        partial.least.push_back(look_for(wanted_[n], input));
      } else {
        const Words counts = wanted_[n].what == What::entropy ? counts_of(wanted_[n], input)
                                                              : count_keys(wanted_[n], searches_[n], input);
        partial.sums.insert(partial.sums.end(), counts.begin(), counts.end());
      }
    }
    return partial.bytes();
  }

  Bytes combine(const CombineInput& input) override {
    input.pass == 0 ? end_first_pass(input) : end_pass(input);
    if (input.pass + 1 < passes_) return {};
    const BytesView bytes = std::as_bytes(std::span(values_));
    return {bytes.begin(), bytes.end()};
  }

 private:
  Part& part_of(const Statistic& one) {
    const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
      return part.variable == one.variable && part.component == one.component;
    });
    return found != parts_.end() ? *found : parts_.emplace_back(Part{one.variable, one.component});
  }

  [[nodiscard]] Bytes first_pass(const LocalInput& input) const {
    SumsAndLeast partial;
    for (const Part& part : parts_) {
      WatchedValues mine(part.sums);
      for (const BlockView& view : input.of(part.variable)) {
        for_each_owned_run(view, part.component,
                           [&](const auto* values, Index n, Index stride) { mine.add(values, n, stride); });
      }
      partial.sums.insert(partial.sums.end(), {mine.finite(), mine.nan(), mine.infinite()});
      const auto form = mine.sum().serialise();
      partial.sums.insert(partial.sums.end(), form.begin(), form.end());
      const bool any = mine.finite() > 0;
      partial.least.push_back(any ? order_key(mine.least()) : least_of_none);
      partial.least.push_back(any ? ~order_key(mine.greatest()) : least_of_none);
    }
    return partial.bytes();
  }

  void end_first_pass(const CombineInput& input) {
    const SumsAndLeast all = SumsAndLeast::joined(input.partials, parts_.size() * Gathered::added,
                                                  parts_.size() * Gathered::least, least_of_none, input.communicator);
    for (std::size_t n = 0; n < parts_.size(); ++n) {
      const std::span<const std::int64_t> sums = std::span(all.sums).subspan(n * Gathered::added, Gathered::added);
      parts_[n].total = {.count = sums[0],
                         .nan = sums[1],
                         .infinite = sums[2],
                         .lowest = all.least[n * Gathered::least],
                         .highest = all.least[n * Gathered::least + 1],
                         .sum = ExactSum::deserialise(sums.last<ExactSum::words>())};
    }
    values_.clear();
    for (std::size_t n = 0; n < wanted_.size(); ++n) {
      const Statistic& one = wanted_[n];
      const Gathered& total = part_of(one).total;
      const bool later = one.what >= What::quantile;
      values_.push_back(later ? unknown : total.get(one.what));
      if (one.what != What::quantile || total.count == 0) continue;
      searches_[n] = QuantileSearch(total, one.parameter);
      if (searches_[n].found()) values_[n] = searches_[n].value();
    }
  }

  /// True if a statistic needs this pass; the same on every server.
  [[nodiscard]] bool goes_on(std::size_t n, int pass) {
    const Statistic& one = wanted_[n];
    if (one.what < What::quantile || part_of(one).total.count == 0) return false;
    return one.what == What::quantile ? !searches_[n].found() : pass == 1;
  }

  void end_pass(const CombineInput& input) {
    std::size_t sums = 0, least = 0;
    for (std::size_t n = 0; n < wanted_.size(); ++n) {
      if (!goes_on(n, input.pass)) continue;
      (is_place(wanted_[n].what) ? least : sums) += words_of(wanted_[n]);
    }
    if (sums + least == 0) return;
    const SumsAndLeast all = SumsAndLeast::joined(input.partials, sums, least, least_of_none, input.communicator);
    std::span<const std::int64_t> counts(all.sums), places(all.least);
    for (std::size_t n = 0; n < wanted_.size(); ++n) {
      if (!goes_on(n, input.pass)) continue;
      auto& rest = is_place(wanted_[n].what) ? places : counts;
      take(n, rest.first(words_of(wanted_[n])));
      rest = rest.subspan(words_of(wanted_[n]));
    }
  }

  [[nodiscard]] static std::size_t words_of(const Statistic& one) {
    return is_place(one.what)          ? 1
           : one.what == What::entropy ? static_cast<std::size_t>(one.parameter)
                                       : std::size_t{1} << QuantileSearch::bits;
  }

  /// Takes the total of a pass for a statistic.
  void take(std::size_t n, std::span<const std::int64_t> words) {
    const Statistic& one = wanted_[n];
    if (is_place(one.what)) {
      if (words[0] != least_of_none) values_[n] = from_order_key(words[0]);
    } else if (one.what == What::entropy) {
      values_[n] = entropy_of(words, part_of(one).total.count);
    } else {
      searches_[n].narrow(words);
      if (searches_[n].found()) values_[n] = searches_[n].value();
    }
  }

  [[nodiscard]] std::int64_t look_for(const Statistic& one, const LocalInput& input) {
    const Gathered& total = part_of(one).total;
    const double wanted = one.what == What::at_max ? total.high() : total.low();
    const Variable& variable = input.metadata.variables[static_cast<std::size_t>(one.variable)];
    std::int64_t least = least_of_none;
    for (const BlockView& view : input.of(one.variable)) {
      least = std::min(least, lowest_place(view, variable, input.metadata.mesh_of(variable), one, wanted));
    }
    return least;
  }

  [[nodiscard]] Words counts_of(const Statistic& one, const LocalInput& input) {
    const Gathered& total = part_of(one).total;
    const Bins bins(total.low(), total.high(), static_cast<int>(one.parameter));
    BinCounts counts(bins, false);
    for (const BlockView& view : input.of(one.variable)) counts.add(view, one.component);
    Words words = counts.words();
    words.resize(words_of(one));
    return words;
  }

  [[nodiscard]] static Words count_keys(const Statistic& one, const QuantileSearch& search, const LocalInput& input) {
    Words counts(words_of(one), 0);
    for (const BlockView& view : input.of(one.variable)) {
      for_each_owned_run(view, one.component,
                         [&](const auto* values, Index n, Index stride) { search.count(values, n, stride, counts); });
    }
    return counts;
  }

  std::vector<Statistic> wanted_;
  std::vector<Part> parts_;
  int passes_ = 1;
  // Results of the iteration, after its first pass; the same on every server.
  std::vector<double> values_;            ///< in the order of `wanted_`; unknown if no pass has found it
  std::vector<QuantileSearch> searches_;  ///< likewise
};

}  // namespace

std::unique_ptr<Task> make_trigger_statistics(const std::vector<Statistic>& wanted) {
  return std::make_unique<TriggerStatistics>(wanted);
}

}  // namespace sidestream
