// Histogram of a variable: numbers of values in intervals.
//
// If the range is not configured, a first pass finds the extremes: each server's as order-preserving integer keys,
// reduced by one minimum. The second pass counts; the counts, and weights as exact sums, are added over servers as
// integers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/common/kinds.hpp"
#include "sidestream/kit/analysis/chart.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/mesh/chosen_runs.hpp"
#include "sidestream/kit/reduce/bins/bin_counts.hpp"
#include "sidestream/kit/reduce/bins/bins.hpp"
#include "sidestream/kit/reduce/words.hpp"

namespace sidestream {
namespace {

struct HistogramQuery {
  Variable variable{};
  std::optional<Variable> weight{};
  CellChoice choice{};
  int component = 0, bins = 0;
  std::optional<std::array<double, 2>> range{};
  bool logarithmic = false;
  Normalisation normalisation = Normalisation::counts;
  std::string file{};
  std::optional<ChartFile> chart{};
  Pieces pieces = Pieces::automatic;
};

class Histogram final : public Task {
 public:
  explicit Histogram(const HistogramQuery& query) : query_(query), range_(query.range), count_(query.bins) {}

  Selection selection() const override {
    Selection selection{{{query_.variable.id, 0, part_of(query_.choice)}}};
    if (query_.weight) selection.variables.push_back({query_.weight->id, 0, part_of(query_.choice)});
    for (Selected& selected : selection.variables) selected.covered = false;
    selection.geometry = false;  // no geometry: ghost flags (trees) and indices (boxes) decide what counts
    return selection;
  }
  int passes() const override { return range_ ? 1 : 2; }

  Bytes local(const LocalInput& input) override {
    if (!range_ && input.pass == 0) return to_bytes(extremes(input));
    const Bins bins = bins_of(input.feedback);
    BinCounts counts(bins, query_.weight.has_value());
    for (const BlockView& view : input.of(query_.variable.id)) {
      const BlockView chosen = chosen_view(input, query_.variable, view, query_.choice);
      if (!query_.weight) {
        counts.add(chosen, query_.component);
      } else if (const BlockView* weight = input.find(query_.weight->id, view.block.id)) {
        counts.add(chosen, query_.component, *weight, 0);
      }
    }
    return to_bytes(counts.words());
  }

  Bytes combine(const CombineInput& input) override {
    if (!range_ && input.pass == 0) return combine_extremes(input);
    const Bins bins = bins_of(found_);
    const std::size_t slots = static_cast<std::size_t>(count_) + 3;
    Words counts(slots + (query_.weight ? static_cast<std::size_t>(count_) * ExactSum::words : 0), 0);
    for (const Bytes& partial : input.partials) {
      const Words words = to_words(partial, counts.size());
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += words[i];
    }
    input.communicator.sum(counts);
    weights_ = query_.weight ? weights_of(std::span(counts).subspan(slots)) : std::vector<double>();
    counts.resize(slots);
    const int servers = input.communicator.size(), me = input.communicator.rank();
    // Small tables need not be gathered, since all servers have the counts.
    if (!writes_in_pieces()) {
      if (me == 0) input.results.add(query_.file, table(bins, counts, 0, count_));
      draw(input);
      return {};
    }
    const auto part = [&](int server) { return static_cast<int>(std::int64_t{count_} * server / servers); };
    input.results.add_parts(query_.file, table(bins, counts, part(me), part(me + 1)), input.communicator,
                            Pieces::always);
    draw(input);
    return {};
  }

 private:
  /// Key of the smallest finite value and complement of the key of the largest.
  [[nodiscard]] Words extremes(const LocalInput& input) const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const BlockView& view : input.of(query_.variable.id)) {
      const BlockView chosen = chosen_view(input, query_.variable, view, query_.choice);
      for_each_owned_run(chosen, query_.component, [&](const auto* values, Index n, Index stride) {
        for (Index i = 0; i < n; ++i) {
          const auto v = static_cast<double>(values[i * stride]);
          if (!std::isfinite(v) || (query_.logarithmic && !(v > 0))) continue;
          low = v < low ? v : low;
          high = v > high ? v : high;
        }
      });
    }
    if (low > high) return {least_of_none, least_of_none};
    return {order_key(low), ~order_key(high)};
  }

  Bytes combine_extremes(const CombineInput& input) {
    Words least{least_of_none, least_of_none};
    for (const Bytes& partial : input.partials) {
      const Words words = to_words(partial, 2);
      for (std::size_t i = 0; i < 2; ++i) least[i] = std::min(least[i], words[i]);
    }
    input.communicator.minimum(least);
    found_ = to_bytes(least);
    return found_;
  }

  /// Bins of the configured range, or of the range found (`feedback`).
  [[nodiscard]] Bins bins_of(BytesView feedback) const {
    std::array<double, 2> range = query_.logarithmic ? std::array{1.0, 10.0} : std::array{0.0, 1.0};
    if (range_) {
      range = *range_;
    } else if (const Words least = to_words(feedback, 2); least[0] != least_of_none) {  // there is a finite value
      range = {from_order_key(least[0]), from_order_key(~least[1])};
    }
    return query_.logarithmic ? Bins::logarithmic(range[0], range[1], count_) : Bins(range[0], range[1], count_);
  }

  [[nodiscard]] bool writes_in_pieces() const {
    constexpr int large = 1 << 20;  // rows: some 64 MiB
    return query_.pieces == Pieces::always || (query_.pieces == Pieces::automatic && count_ > large);
  }

  /// Requests the chart; call it when the table exists.
  void draw(const CombineInput& input) const {
    if (!query_.chart) return;
    std::vector<std::string> about = titled("variable", query_.variable);
    if (query_.weight) {
      const std::vector<std::string> weight = titled("weight", *query_.weight);
      about.insert(about.end(), weight.begin(), weight.end());
    }
    if (query_.normalisation == Normalisation::gimlet) about.emplace_back("--option=normalise:gimlet");
    if (query_.normalisation != Normalisation::counts) {
      about.emplace_back("--quantity=density");
    } else {
      about.emplace_back(query_.weight ? "--quantity=weight" : "--quantity=count");
    }
    draw_chart(*query_.chart, query_.file, query_.variable.title(), about, input);
  }

  /// Rows of bins [first, last).
  [[nodiscard]] Table table(const Bins& bins, const Words& counts, int first, int last) const {
    const auto rows = static_cast<std::size_t>(last - first), n = static_cast<std::size_t>(count_);
    Words numbers(rows);
    std::iota(numbers.begin(), numbers.end(), first);
    const auto from = [&](const auto& values, int begin) {
      return std::decay_t<decltype(values)>(values.begin() + begin, values.begin() + begin + (last - first));
    };
    const auto repeated = [&](std::size_t slot) { return Words(rows, counts[slot]); };
    std::vector<Column> columns{{"bin", numbers},
                                {"lower", from(bins.edges(), first)},
                                {"upper", from(bins.edges(), first + 1)},
                                {"count", from(counts, first)},
                                {"below", repeated(n)},
                                {"above", repeated(n + 1)},
                                {"nan", repeated(n + 2)}};
    if (!weights_.empty()) columns.push_back({"weight", from(weights_, first)});
    if (query_.normalisation != Normalisation::counts) {
      const std::vector<double> amounts =
          weights_.empty() ? std::vector<double>(counts.begin(), counts.begin() + count_) : weights_;
      columns.push_back({"density", from(densities(bins.edges(), amounts, query_.normalisation), first)});
    }
    return Table(std::move(columns));
  }

  HistogramQuery query_;
  std::optional<std::array<double, 2>> range_;
  int count_;
  std::vector<double> weights_;  ///< of the current iteration, by interval; empty without weights
  Bytes found_;                  ///< kept between the passes of one iteration
};

OptionTable<HistogramQuery> histogram_options() {
  using Query = HistogramQuery;
  return {
      variable_option(&Query::variable, "The variable."),
      one_component_option(&Query::component, &Query::variable),
      option("bins", &Query::bins, "Number of intervals.", {.standard = 64, .minimum = 1, .maximum = 1 << 24}),
      option("range", &Query::range,
             "Lower edge of the first and upper edge of the last interval. Default: the smallest and the largest "
             "finite value of the iteration, which costs a second pass over the data."),
      bin_scale_option(&Query::logarithmic),
      weight_option(&Query::weight, &Query::variable,
                    "A variable with one component at the same points that is summed in each interval, such as a mass "
                    "or a volume."),
      normalisation_option(&Query::normalisation),
      file_option(&Query::file, "histogram.csv",
                  "The table. Rows of later iterations are appended unless the name tells iterations apart, "
                  "as in `histogram-{cycle:06}.csv`."),
      pieces_option(&Query::pieces),
      option("image", &Query::chart, "A chart of the table: the content of each interval, or its density.",
             {.options = curves_options("{label}: distribution    time {time:#.5g}    cycle {cycle}", {})}),
      choice_options(&Query::choice, &Query::variable)};
}

HistogramQuery read_histogram(const Settings& settings, const Metadata& metadata) {
  const OptionTable<HistogramQuery> options = histogram_options();
  HistogramQuery query = options.read(settings, metadata);
  if (query.range) {
    const auto [low, high] = *query.range;
    if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) {
      options.fail(settings, &HistogramQuery::range,
                   fmt::format("the range [{}, {}] is not two finite numbers in ascending order; write `range: [low, "
                               "high]`, or leave it out to use the least and greatest value",
                               low, high));
    }
    if (query.logarithmic && !(low > 0)) {
      options.fail(settings, &HistogramQuery::range,
                   fmt::format("the range begins at {}, and a logarithmic scale needs positive values; write a range "
                               "above 0, or `scale: linear`",
                               low));
    }
  }
  constexpr int most = 1 << 16;
  if (query.weight && query.bins > most) {
    options.fail(
        settings, &HistogramQuery::bins,
        fmt::format("found {} bins with 'weight', expected at most {}: each has an exact sum", query.bins, most));
  }
  return query;
}

}  // namespace

AnalysisKind histogram_kind() {
  return {
      .name = "histogram",
      .text =
          "Counts the values of a variable in each of `bins` intervals of equal width or ratio. Each point counts "
          "once; ghosts, copies of shared nodes and cells that a finer level covers do not count. An interval "
          "includes its lower edge and excludes its upper one; the last includes both. The table has a row for each "
          "interval with the columns bin, lower, upper and count. The columns below, above and nan are repeated in "
          "every row; they count values outside the range (including infinities) and NaN. A variable with the same "
          "value everywhere gets a range of at least 1 around it. With `weight` there is a column of that name, the "
          "exact sum of the weights in each interval, and with `normalise` a column `density`.",
      .options = histogram_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Histogram>(read_histogram(settings, metadata));
      },
  };
}

}  // namespace sidestream
