#include "reduce/trigger_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/mesh/runs.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"
#include "sidestream/kit/reduce/words.hpp"

namespace sidestream {

namespace {

/// The statistics of one component of a variable; the same bits however the points are divided.
struct Gathered {
  static constexpr std::size_t added = 1 + ExactSum::words, least = 2;
  std::int64_t count = 0, lowest = least_of_none,
               highest = least_of_none;  ///< order keys; `highest` is the least of all ~key
  ExactSum sum;

  template <class T>
  void add(const T* values, Index n, Index stride) {
    for (Index i = 0; i < n; ++i) {
      const auto x = static_cast<double>(values[i * stride]);
      if (!std::isfinite(x)) continue;
      ++count;
      lowest = std::min(lowest, order_key(x));
      highest = std::min(highest, ~order_key(x));
      sum.add(x);
    }
  }

  [[nodiscard]] double get(Statistic::What what) const {
    if (count == 0) return std::numeric_limits<double>::quiet_NaN();
    switch (what) {
      case Statistic::What::minimum:
        return from_order_key(lowest);
      case Statistic::What::maximum:
        return from_order_key(~highest);
      case Statistic::What::mean:
        return quotient_of(sum, static_cast<double>(count));
      case Statistic::What::sum:
        break;
    }
    return sum.value();
  }
};

class TriggerStatistics final : public Task {
 public:
  explicit TriggerStatistics(const std::vector<Statistic>& wanted) : wanted_(wanted) {
    for (const Statistic& one : wanted_) {
      const std::pair part(one.variable, one.component);
      if (std::find(parts_.begin(), parts_.end(), part) == parts_.end()) parts_.push_back(part);
    }
  }

  [[nodiscard]] Selection selection() const override {
    Selection selection;
    for (const auto& [variable, component] : parts_) {
      const auto is_known = [variable = variable](const Selected& s) { return s.variable == variable; };
      const std::vector<Selected>& known = selection.variables;
      if (std::none_of(known.begin(), known.end(), is_known)) selection.variables.emplace_back(variable, 0);
    }
    for (Selected& selected : selection.variables) selected.covered = false;
    selection.geometry = false;
    return selection;
  }

  [[nodiscard]] Bytes local(const LocalInput& input) override {
    SumsAndLeast partial;
    for (const auto& [variable, component] : parts_) {
      Gathered mine;
      for (const BlockView& view : input.of(variable)) {
        for_each_owned_run(view, component,
                           [&](const auto* values, Index n, Index stride) { mine.add(values, n, stride); });
      }
      partial.sums.push_back(mine.count);
      const auto form = mine.sum.serialise();
      partial.sums.insert(partial.sums.end(), form.begin(), form.end());
      partial.least.insert(partial.least.end(), {mine.lowest, mine.highest});
    }
    return partial.bytes();
  }

  Bytes combine(const CombineInput& input) override {
    const SumsAndLeast all = SumsAndLeast::joined(input.partials, parts_.size() * Gathered::added,
                                                  parts_.size() * Gathered::least, least_of_none, input.communicator);
    std::vector<double> values;
    for (const Statistic& one : wanted_) values.push_back(read(one, all.sums, all.least));
    const BytesView bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
  }

 private:
  [[nodiscard]] double read(const Statistic& one, const Words& added, const Words& least) const {
    const auto part = std::find(parts_.begin(), parts_.end(), std::pair(one.variable, one.component));
    const auto n = static_cast<std::size_t>(part - parts_.begin());
    const std::span<const std::int64_t> sums = std::span(added).subspan(n * Gathered::added, Gathered::added);
    Gathered all;
    all.count = sums[0];
    all.sum = ExactSum::deserialise(sums.last<ExactSum::words>());
    all.lowest = least[n * Gathered::least];
    all.highest = least[n * Gathered::least + 1];
    return all.get(one.what);
  }

  std::vector<Statistic> wanted_;
  std::vector<std::pair<std::int32_t, std::int32_t>> parts_;  ///< variables and components
};

}  // namespace

std::unique_ptr<Task> make_trigger_statistics(const std::vector<Statistic>& wanted) {
  return std::make_unique<TriggerStatistics>(wanted);
}

}  // namespace sidestream
