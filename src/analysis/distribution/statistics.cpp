// Count, extremes, sum, mean and variance of a variable over the whole mesh.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/chosen_runs.hpp"
#include "analysis/common_options.hpp"
#include "analysis/kinds.hpp"
#include "analysis/words.hpp"
#include "sidestream/extend/exact_sum.hpp"

namespace sidestream {
namespace {

constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::max();

/// The exact sum of squares of any finite doubles. The squares of great and small numbers are no doubles, so that
/// those are scaled by powers of two before and summed apart.
struct SquareSum {
  static constexpr int scale = 600;
  static constexpr double great = 0x1p400, small = 0x1p-400, down = 0x1p-600, up = 0x1p600;
  static constexpr std::size_t words = 3 * ExactSum::words;
  ExactSum of_small, of_common, of_great;

  void add(double x) noexcept {
    const double size = std::fabs(x);
    if (size >= small && size < great) [[likely]] {
      of_common.add_product(x, x);
    } else if (size >= great) {
      of_great.add_product(x * down, x * down);
    } else if (size > 0) {
      of_small.add_product(x * up, x * up);
    }
  }
  /// Twice the exponent that brings the squares near 1; nothing if their sum is 0.
  [[nodiscard]] std::optional<int> exponent() const {
    int shift = 2 * scale;
    for (const ExactSum* sum : {&of_great, &of_common, &of_small}) {
      const double value = sum->value();
      if (value != 0) return (std::ilogb(value) + shift) / 2 * 2;
      shift -= 2 * scale;
    }
    return std::nullopt;
  }
  /// Adds count * sum / 2^exponent to `total`.
  void add_to(ExactSum& total, double count, int exponent) const {
    int shift = 2 * scale - exponent;
    for (const ExactSum* sum : {&of_great, &of_common, &of_small}) {
      for (const double term : sum->expansion()) total.add_product(count, std::ldexp(term, shift));
      shift -= 2 * scale;
    }
  }
};

/// What is known of one component. Every part of it can be added, or the lesser one taken, in any order.
struct Moments {
  std::int64_t count = 0, nan = 0, infinite = 0;
  std::int64_t lowest = nothing, highest = nothing;  ///< keys; `highest` is the least of all ~key
  ExactSum sum;
  SquareSum squares;

  /// Key of a value: the value itself for integers that fit, otherwise one that orders as the reals do.
  template <class T>
  static std::int64_t key(T v) noexcept {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, std::uint64_t>) return static_cast<std::int64_t>(v);
    return order_key(static_cast<double>(v));
  }

  template <class T>
  void add(const T* values, Index n, Index stride) {
    bool any = false;
    T low{}, high{};
    for (Index i = 0; i < n; ++i) {
      const T v = values[i * stride];
      const auto x = static_cast<double>(v);
      if (!std::isfinite(x)) {
        ++(std::isnan(x) ? nan : infinite);
        continue;
      }
      low = !any || v < low ? v : low;
      high = !any || v > high ? v : high;
      any = true;
      ++count;
      sum.add(x);
      squares.add(x);
    }
    if (!any) return;
    lowest = std::min(lowest, key(low));
    highest = std::min(highest, ~key(high));
  }
};

constexpr std::size_t added_words = 3 + ExactSum::words + SquareSum::words, least_words = 2;

class Statistics final : public Task {
 public:
  Statistics(const Variable& variable, std::optional<int> component, const CellChoice& choice, std::string file)
      : variable_(variable), choice_(choice), file_(std::move(file)) {
    const int first = component.value_or(0), last = component ? first + 1 : variable.components;
    for (int c = first; c < last; ++c) components_.push_back(c);
  }

  Selection selection() const override {
    Selection selection{{{variable_.id, 0, part_of(choice_)}}};
    selection.variables[0].covered = false;
    selection.geometry = false;  // wherever the values are: flags say so of trees, the indices of boxes
    return selection;
  }

  Bytes local(const LocalInput& input) override {
    SumsAndLeast partial;
    for (const int c : components_) {
      Moments m;
      for (const BlockView& view : input.of(variable_.id)) {
        for_each_chosen_run(input, variable_, view, c, choice_,
                            [&](const auto* values, Index n, Index stride) { m.add(values, n, stride); });
      }
      partial.sums.insert(partial.sums.end(), {m.count, m.nan, m.infinite});
      for (const ExactSum* sum : {&m.sum, &m.squares.of_small, &m.squares.of_common, &m.squares.of_great}) {
        const auto form = sum->serialise();
        partial.sums.insert(partial.sums.end(), form.begin(), form.end());
      }
      partial.least.insert(partial.least.end(), {m.lowest, m.highest});
    }
    return partial.bytes();
  }

  Bytes combine(const CombineInput& input) override {
    const std::size_t n = components_.size();
    const SumsAndLeast all =
        SumsAndLeast::joined(input.partials, n * added_words, n * least_words, nothing, input.communicator);
    Table table{{"component", "count", "nan", "infinite", "minimum", "maximum", "sum", "mean", "variance",
                 "standard_deviation"},
                {}};
    for (std::size_t i = 0; i < n; ++i) {
      table.add_row(row(components_[i], std::span(all.sums).subspan(i * added_words, added_words),
                        std::span(all.least).subspan(i * least_words, least_words)));
    }
    input.results.add(file_, table);
    return {};
  }

 private:
  [[nodiscard]] Table::Cell extreme(std::int64_t key) const {
    const bool real = variable_.type == Type::float32 || variable_.type == Type::float64;
    if (real || variable_.type == Type::uint64) return from_order_key(key);
    return key;
  }

  struct Spread {
    double variance = 0, deviation = 0;
  };
  /// (n S2 - S1^2) / n^2 with sums exact beyond 200 bits: no cancellation when the mean is far greater than
  /// the spread. Scaled, so that a variance beyond the doubles is infinite or 0 while the deviation is right.
  static Spread spread(std::int64_t n, const ExactSum& sum, const SquareSum& squares) {
    const std::optional<int> exponent = squares.exponent();
    if (!exponent) return {};
    const auto count = static_cast<double>(n);
    ExactSum numerator;
    squares.add_to(numerator, count, *exponent);
    auto terms = sum.expansion();
    for (double& term : terms) term = std::ldexp(term, -*exponent / 2);
    for (const double a : terms) {
      for (const double b : terms) numerator.add_product(-a, b);
    }
    const double scaled = numerator.value() / count / count;
    if (scaled <= 0) return {};
    return {std::ldexp(scaled, *exponent), std::ldexp(std::sqrt(scaled), *exponent / 2)};
  }

  [[nodiscard]] std::vector<Table::Cell> row(int component, std::span<const std::int64_t> added,
                                             std::span<const std::int64_t> least) const {
    const std::int64_t count = added[0];
    const auto sum = ExactSum::deserialise(added.subspan(3).first<ExactSum::words>());
    const auto squares = [&](std::size_t which) {
      return ExactSum::deserialise(added.subspan(3 + (1 + which) * ExactSum::words).first<ExactSum::words>());
    };
    const double none = std::numeric_limits<double>::quiet_NaN();
    std::vector<Table::Cell> cells{std::int64_t{component}, count, added[1], added[2]};
    if (count == 0) {
      cells.insert(cells.end(), {none, none, 0.0, none, none, none});
      return cells;
    }
    const auto [variance, deviation] = spread(count, sum, {squares(0), squares(1), squares(2)});
    cells.push_back(extreme(least[0]));
    cells.push_back(extreme(~least[1]));
    for (const double x : {sum.value(), sum.value() / static_cast<double>(count), variance, deviation}) {
      cells.emplace_back(x);
    }
    return cells;
  }

  Variable variable_;
  CellChoice choice_;
  std::string file_;
  std::vector<int> components_;
};

}  // namespace

AnalysisKind statistics_kind() {
  std::vector<Option> options{variable_option("The variable."),
                              component_option("Only this component, from 0. Without it every component gets a row."),
                              file_option("statistics.csv",
                                          "The table. Rows of later iterations are appended unless the name tells "
                                          "iterations apart.")};
  for (Option& option : choice_options()) options.push_back(std::move(option));
  return {
      .name = "statistics",
      .text =
          "Count, minimum, maximum, sum, mean, variance and standard deviation of a variable over the whole "
          "mesh, one "
          "row for each component. Each point counts once: ghosts, copies of shared nodes and cells that a finer level "
          "covers do not. NaN and "
          "infinite "
          "values are counted in columns of their own and take no part in the rest; `count` is the number of "
          "finite "
          "values. Sums are exact and rounded once at the end, so the result does not depend on how the mesh "
          "is divided; "
          "the variance is that of the whole population (divided by `count`). Whole numbers beyond 2^53 are "
          "rounded to "
          "the nearest double in sums, not in minimum and maximum (uint64: there as well). Where nothing is "
          "finite, what "
          "cannot be said is `nan`.",
      .options = std::move(options),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        const Variable& variable = read_variable(settings, metadata);
        return std::make_unique<Statistics>(variable, read_component(settings, variable),
                                            read_choice(settings, metadata.mesh_of(variable)), settings.text("file"));
      },
  };
}

}  // namespace sidestream
