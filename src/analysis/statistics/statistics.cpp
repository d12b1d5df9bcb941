// Count, extremes, sum, mean and variance of a variable over the whole mesh.
//
// Each server computes counts, integer keys of the extremes, and exact sums of values and squares, one set for each
// weight (level). Counts and sums are added over servers, keys are reduced by minimum. The variance is (W S2 - S1^2) /
// W^2 in exact arithmetic, rounded once, so that the result does not depend on the division of the mesh, and there is
// no cancellation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/common/kinds.hpp"
#include "sidestream/extend/exact_sum.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/mesh/chosen_runs.hpp"
#include "sidestream/kit/reduce/exact_sum_forms.hpp"
#include "sidestream/kit/reduce/words.hpp"

namespace sidestream {
namespace {

/// Exact sum of squares of any finite doubles. Squares of very large and very small numbers are not representable, so
/// those numbers are scaled by powers of two and summed separately.
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
  /// Twice the exponent that scales the squares to near 1; nothing if their sum is 0.
  [[nodiscard]] std::optional<int> exponent() const {
    int shift = 2 * scale;
    for (const ExactSum* sum : {&of_great, &of_common, &of_small}) {
      const double value = sum->value();
      if (value != 0) return (std::ilogb(value) + shift) / 2 * 2;
      shift -= 2 * scale;
    }
    return std::nullopt;
  }
  /// Adds weight * sum / 2^exponent to `total`.
  void add_to(ExactSum& total, double weight, int exponent) const {
    int shift = 2 * scale - exponent;
    for (const ExactSum* sum : {&of_great, &of_common, &of_small}) {
      for (const double term : sum->expansion()) total.add_product(weight, std::ldexp(term, shift));
      shift -= 2 * scale;
    }
  }
};

/// Moments of one component. All parts can be added, or reduced by minimum, in any order.
struct Moments {
  std::int64_t count = 0, nan = 0, infinite = 0;
  std::int64_t lowest = least_of_none, highest = least_of_none;  ///< keys; `highest` is the minimum of all ~key
  ExactSum sum;
  SquareSum squares;

  /// Key of a value: the value itself for integers that fit, otherwise an integer with the same order.
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

/// Weights of values: 1, or the size of the cell, as a fraction of a cell of the coarsest level.
struct Weights {
  std::vector<double> of_level{1};  ///< one entry: all have the same weight
  double unit = 1;                  ///< size of a cell of the coarsest level, if weights are sizes
  bool by_size = false;
};

/// Moments of one component with weights.
struct Weighted {
  std::int64_t count = 0, nan = 0, infinite = 0;
  ExactSum weight, sum;
  SquareSum squares;

  void add(std::span<const std::int64_t> added, double of_each) {
    const auto sum_at = [&](std::size_t which) {
      return ExactSum::deserialise(added.subspan(3 + which * ExactSum::words).first<ExactSum::words>());
    };
    count += added[0];
    nan += added[1];
    infinite += added[2];
    weight.add_product(static_cast<double>(added[0]), of_each);
    add_weighted(sum, sum_at(0), of_each);
    add_weighted(squares.of_small, sum_at(1), of_each);
    add_weighted(squares.of_common, sum_at(2), of_each);
    add_weighted(squares.of_great, sum_at(3), of_each);
  }

  struct Spread {
    double variance = 0, deviation = 0;
  };
  /// Variance (W S2 - S1^2) / W^2 with sums exact beyond 200 bits, so that nothing cancels if the mean is far greater
  /// than the spread. Scaled, so that the deviation is right even if the variance overflows or underflows.
  [[nodiscard]] Spread spread() const {
    const std::optional<int> exponent = squares.exponent();
    if (!exponent) return {};
    ExactSum numerator;
    for (const double part : weight.expansion()) squares.add_to(numerator, part, *exponent);
    const bool great = is_great(sum);
    auto terms = great ? lowered(sum).expansion() : sum.expansion();
    for (double& term : terms) term = std::ldexp(term, (great ? great_bits : 0) - *exponent / 2);
    for (const double one : terms) {
      for (const double other : terms) numerator.add_product(-one, other);
    }
    const double all = weight.value(), scaled = numerator.value() / all / all;
    if (scaled <= 0) return {};
    return {std::ldexp(scaled, *exponent), std::ldexp(std::sqrt(scaled), *exponent / 2)};
  }
};

struct StatisticsQuery {
  Variable variable{};
  std::optional<int> component{};
  CellChoice choice{};
  std::string file{};
  bool by_size = false;
};

class Statistics final : public Task {
 public:
  Statistics(const StatisticsQuery& query, Weights weights)
      : variable_(query.variable), choice_(query.choice), weights_(std::move(weights)), file_(query.file) {
    const int first = query.component.value_or(0), last = query.component ? first + 1 : variable_.components;
    for (int c = first; c < last; ++c) components_.push_back(c);
  }

  Selection selection() const override {
    Selection selection{{{variable_.id, 0, part_of(choice_)}}};
    selection.variables[0].covered = false;
    selection.geometry = false;  // no geometry: ghost flags (trees) and indices (boxes) decide what counts
    return selection;
  }

  Bytes local(const LocalInput& input) override {
    SumsAndLeast partial;
    for (const int c : components_) {
      std::int64_t lowest = least_of_none, highest = least_of_none;
      for (const Moments& m : moments_of(input, c)) {
        partial.sums.insert(partial.sums.end(), {m.count, m.nan, m.infinite});
        for (const ExactSum* sum : {&m.sum, &m.squares.of_small, &m.squares.of_common, &m.squares.of_great}) {
          const auto form = sum->serialise();
          partial.sums.insert(partial.sums.end(), form.begin(), form.end());
        }
        lowest = std::min(lowest, m.lowest);
        highest = std::min(highest, m.highest);
      }
      partial.least.insert(partial.least.end(), {lowest, highest});
    }
    return partial.bytes();
  }

  Bytes combine(const CombineInput& input) override {
    const std::size_t n = components_.size(), words = weights_.of_level.size() * added_words;
    const SumsAndLeast all =
        SumsAndLeast::joined(input.partials, n * words, n * least_words, least_of_none, input.communicator);
    std::vector<std::string> columns{"component", "count", "nan",  "infinite", "minimum",
                                     "maximum",   "sum",   "mean", "variance", "standard_deviation"};
    if (weights_.by_size) columns.emplace_back("size");
    Table table(columns, {});
    for (std::size_t i = 0; i < n; ++i) {
      table.add_row(row(components_[i], std::span(all.sums).subspan(i * words, words),
                        std::span(all.least).subspan(i * least_words, least_words)));
    }
    input.results.add(file_, table);
    return {};
  }

 private:
  /// Moments for each weight.
  [[nodiscard]] std::vector<Moments> moments_of(const LocalInput& input, int c) const {
    std::vector<Moments> moments(weights_.of_level.size());
    for (const BlockView& view : input.of(variable_.id)) {
      if (!weights_.by_size) {
        for_each_chosen_run(input, variable_, view, c, choice_,
                            [&](const auto* values, Index n, Index stride) { moments.front().add(values, n, stride); });
        continue;
      }
      for_each_chosen_run_of_levels(input, variable_, view, c, choice_,
                                    [&](std::int32_t level, const auto* values, Index n, Index stride) {
                                      moments.at(static_cast<std::size_t>(level)).add(values, n, stride);
                                    });
    }
    return moments;
  }

  [[nodiscard]] Table::Cell extreme(std::int64_t key) const {
    const bool real = variable_.type == Type::float32 || variable_.type == Type::float64;
    if (real || variable_.type == Type::uint64) return from_order_key(key);
    return key;
  }

  [[nodiscard]] std::vector<Table::Cell> row(int component, std::span<const std::int64_t> added,
                                             std::span<const std::int64_t> least) const {
    Weighted all;
    for (std::size_t level = 0; level < weights_.of_level.size(); ++level) {
      all.add(added.subspan(level * added_words, added_words), weights_.of_level[level]);
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    std::vector<Table::Cell> cells{std::int64_t{component}, all.count, all.nan, all.infinite};
    if (all.count == 0) {
      cells.insert(cells.end(), {none, none, 0.0, none, none, none});
    } else {
      const auto [variance, deviation] = all.spread();
      cells.push_back(extreme(least[0]));
      cells.push_back(extreme(~least[1]));
      const double mean = quotient_of(all.sum, all.weight.value());
      for (const double x : {product_of(all.sum, weights_.unit), mean, variance, deviation}) cells.emplace_back(x);
    }
    if (weights_.by_size) cells.emplace_back(weights_.unit * all.weight.value());
    return cells;
  }

  Variable variable_;
  CellChoice choice_;
  Weights weights_;
  std::string file_;
  std::vector<int> components_;
};

double product_of(const std::array<double, 3>& spacing, int dimensions) {
  double product = 1;
  for (int a = 0; a < dimensions; ++a) product *= spacing[static_cast<std::size_t>(a)];
  return product;
}

/// Throws Error(configuration) with the option's location if values cannot be weighted by the size of their cells.
Weights weights_of(const StatisticsQuery& query, const Settings& settings, const std::string& name,
                   const Metadata& metadata) {
  if (!query.by_size) return {};
  const Variable& variable = query.variable;
  const Mesh& mesh = metadata.mesh_of(variable);
  require_values_in_cells(settings, name, variable, mesh, "`by: size`");
  Weights weights{{}, 1, true};
  if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    weights.unit = product_of(tree->spacing(), mesh.dimensions);
    constexpr int most_levels = 63;  // cells of a level are counted as integers
    for (int level = 0; level < most_levels; ++level) {
      weights.of_level.push_back(std::ldexp(1.0, -level * mesh.dimensions));
    }
    return weights;
  }
  const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get());
  if (uniform == nullptr) {
    settings.fail(name,
                  fmt::format("found 'by: size' for '{}' on mesh '{}' of type '{}', expected a uniform mesh or an "
                              "octree, whose cells of a level are alike; remove it",
                              variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none"));
  }
  weights.unit = product_of(uniform->spacing(), mesh.dimensions);
  for (std::size_t level = 0; level <= mesh.refinement.size(); ++level) {
    const Index3 ratio = mesh.ratio_to(static_cast<std::int32_t>(level));
    double cells = 1;
    for (int a = 0; a < mesh.dimensions; ++a) cells *= static_cast<double>(ratio[static_cast<std::size_t>(a)]);
    weights.of_level.push_back(1 / cells);
  }
  return weights;
}

OptionTable<StatisticsQuery> statistics_options() {
  using Query = StatisticsQuery;
  return {variable_option(&Query::variable, "The variable."),
          component_option(&Query::component, &Query::variable,
                           "The variable's component, from 0. Default: a row for every component."),
          file_option(&Query::file, "statistics.csv",
                      "The table. Rows of later iterations are appended unless the name tells iterations apart."),
          option<OptionType::choice>(
              "by", &Query::by_size,
              "The weight of a value: the same for all (`cell`), or the volume (area, length) of its cell (`size`), "
              "on uniform meshes with and without refinement levels and octrees. With `size`, `sum` is the integral "
              "over the mesh, in the variable's unit times that of the coordinates to the power of the dimensions; "
              "mean and variance are those of the field; and a column `size` has the volume of the cells with "
              "finite values.",
              {.standard = "cell", .choices = {{"cell", false}, {"size", true}}}),
          choice_options(&Query::choice, &Query::variable)};
}

}  // namespace

AnalysisKind statistics_kind() {
  return {
      .name = "statistics",
      .text =
          "Count, minimum, maximum, sum, mean, variance and standard deviation of a variable over the whole mesh, "
          "one row for each component. Each point counts once; ghosts, copies of shared nodes and cells that a finer "
          "level covers do not count. NaN and infinite values are counted in separate columns and ignored otherwise; "
          "`count` is the number of finite values. Sums are exact and rounded once at the end, so the result does "
          "not depend on how the mesh is divided; the variance is that of the whole population (divided by `count`). "
          "Integers beyond 2^53 are rounded to the nearest double in sums, but not in minimum and maximum (uint64: "
          "there as well). If no value is finite, undefined results are `nan`.",
      .options = statistics_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        const OptionTable<StatisticsQuery> options = statistics_options();
        const StatisticsQuery query = options.read(settings, metadata);
        return std::make_unique<Statistics>(
            query, weights_of(query, settings, options.name(&StatisticsQuery::by_size), metadata));
      },
  };
}

}  // namespace sidestream
