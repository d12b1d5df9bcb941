// How often the values of a variable lie in each of a row of intervals.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/bins.hpp"
#include "analysis/chosen_runs.hpp"
#include "analysis/common_options.hpp"
#include "analysis/kinds.hpp"
#include "analysis/words.hpp"

namespace sidestream {
namespace {

constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::max();

class Histogram final : public Task {
 public:
  Histogram(const Variable& variable, int component, int bins, std::optional<std::array<double, 2>> range,
            const CellChoice& choice, std::string file, Pieces pieces)
      : variable_(variable),
        choice_(choice),
        component_(component),
        count_(bins),
        range_(range),
        file_(std::move(file)),
        pieces_(pieces) {}

  Selection selection() const override {
    Selection selection{{{variable_.id, 0, part_of(choice_)}}};
    selection.variables[0].covered = false;
    selection.geometry = false;  // wherever the values are: flags say so of trees, the indices of boxes
    return selection;
  }
  int passes() const override { return range_ ? 1 : 2; }

  Bytes local(const LocalInput& input) override {
    if (!range_ && input.pass == 0) return to_bytes(extremes(input));
    const Bins bins = range_ ? Bins((*range_)[0], (*range_)[1], count_) : found_bins(input.feedback);
    Words counts(static_cast<std::size_t>(count_) + 3, 0);
    for (const BlockView& view : input.of(variable_.id)) {
      for_each_chosen_run(input, variable_, view, component_, choice_, [&](const auto* values, Index n, Index stride) {
        for (Index i = 0; i < n; ++i) ++counts[bins.slot(static_cast<double>(values[i * stride]))];
      });
    }
    return to_bytes(counts);
  }

  Bytes combine(const CombineInput& input) override {
    if (!range_ && input.pass == 0) return combine_extremes(input);
    Words counts(static_cast<std::size_t>(count_) + 3, 0);
    for (const Bytes& partial : input.partials) {
      const Words words = to_words(partial, counts.size());
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += words[i];
    }
    input.communicator.sum(counts);
    const Bins bins = range_ ? Bins((*range_)[0], (*range_)[1], count_) : found_bins(found_);
    const int servers = input.communicator.size(), me = input.communicator.rank();
    // Small tables need not be gathered: the counts are everywhere.
    if (!writes_in_pieces()) {
      if (me == 0) input.results.add(file_, table(bins, counts, 0, count_));
      return {};
    }
    const auto part = [&](int server) { return static_cast<int>(std::int64_t{count_} * server / servers); };
    input.results.add_parts(file_, table(bins, counts, part(me), part(me + 1)), input.communicator, Pieces::always);
    return {};
  }

 private:
  /// Keys of the least finite value and, as its complement, of the greatest.
  [[nodiscard]] Words extremes(const LocalInput& input) const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const BlockView& view : input.of(variable_.id)) {
      for_each_chosen_run(input, variable_, view, component_, choice_, [&](const auto* values, Index n, Index stride) {
        for (Index i = 0; i < n; ++i) {
          const auto v = static_cast<double>(values[i * stride]);
          if (!std::isfinite(v)) continue;
          low = v < low ? v : low;
          high = v > high ? v : high;
        }
      });
    }
    if (low > high) return {nothing, nothing};
    return {order_key(low), ~order_key(high)};
  }

  Bytes combine_extremes(const CombineInput& input) {
    Words least{nothing, nothing};
    for (const Bytes& partial : input.partials) {
      const Words words = to_words(partial, 2);
      for (std::size_t i = 0; i < 2; ++i) least[i] = std::min(least[i], words[i]);
    }
    input.communicator.minimum(least);
    found_ = to_bytes(least);
    return found_;
  }

  [[nodiscard]] Bins found_bins(BytesView feedback) const {
    const Words least = to_words(feedback, 2);
    if (least[0] == nothing) return Bins(0, 1, count_);  // no finite value anywhere
    return Bins(from_order_key(least[0]), from_order_key(~least[1]), count_);
  }

  [[nodiscard]] bool writes_in_pieces() const {
    constexpr int large = 1 << 20;  // rows: some 64 MiB
    return pieces_ == Pieces::always || (pieces_ == Pieces::automatic && count_ > large);
  }

  /// The rows of bins first to last.
  [[nodiscard]] Table table(const Bins& bins, const Words& counts, int first, int last) const {
    const auto rows = static_cast<std::size_t>(last - first), n = static_cast<std::size_t>(count_);
    Words numbers(rows);
    std::iota(numbers.begin(), numbers.end(), first);
    const auto from = [&](const auto& values, int begin) {
      return std::decay_t<decltype(values)>(values.begin() + begin, values.begin() + begin + (last - first));
    };
    const auto repeated = [&](std::size_t slot) { return Words(rows, counts[slot]); };
    return Table({{"bin", numbers},
                  {"lower", from(bins.edges(), first)},
                  {"upper", from(bins.edges(), first + 1)},
                  {"count", from(counts, first)},
                  {"below", repeated(n)},
                  {"above", repeated(n + 1)},
                  {"nan", repeated(n + 2)}});
  }

  Variable variable_;
  CellChoice choice_;
  int component_, count_;
  std::optional<std::array<double, 2>> range_;
  std::string file_;
  Pieces pieces_;
  Bytes found_;  ///< between the passes of one iteration
};

std::optional<std::array<double, 2>> read_range(const Settings& settings) {
  const std::vector<double> range = settings.reals("range");
  if (range.empty()) return std::nullopt;
  if (range.size() == 2 && std::isfinite(range[0]) && std::isfinite(range[1]) && range[0] < range[1]) {
    return std::array{range[0], range[1]};
  }
  settings.fail("range", fmt::format("the range {} is not two finite numbers in ascending order; write `range: [low, "
                                     "high]`, or leave it out to use the least and greatest value",
                                     range.size() == 2 ? fmt::format("[{}, {}]", range[0], range[1])
                                                       : fmt::format("of {} numbers", range.size())));
}

}  // namespace

AnalysisKind histogram_kind() {
  std::vector<Option> options{
      variable_option("The variable."),
      component_option("Which component, from 0; needed if the variable has several."),
      {.name = "bins",
       .type = OptionType::integer,
       .default_value = "64",
       .text = "Number of intervals.",
       .minimum = 1,
       .maximum = 1 << 24},
      {.name = "range",
       .type = OptionType::real,
       .list = true,
       .text = "Lower edge of the first and upper edge of the last interval. Without it: the least and the "
               "greatest finite value of the iteration, which costs a second pass over the data.",
       .least_entries = 2,
       .most_entries = 2},
      file_option("histogram.csv",
                  "The table. Rows of later iterations are appended unless the name tells iterations apart, "
                  "as in `histogram-{cycle:06}.csv`."),
      pieces_option()};
  for (Option& option : choice_options()) options.push_back(std::move(option));
  return {
      .name = "histogram",
      .text =
          "Counts how many values of a variable lie in each of `bins` intervals of equal width. Each point "
          "counts once: "
          "ghosts, copies of shared nodes and cells that a finer level covers do not. An interval holds its lower edge and not its upper one; "
          "the last "
          "holds both. The table has a row for each interval with the columns bin, lower, upper and count; "
          "below, above "
          "and nan are repeated in every row and say how many values lie outside the range (infinities among "
          "them) or "
          "are no numbers. A variable that has the same value everywhere gets a range of at least 1 around "
          "it.",
      .options = std::move(options),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        const Variable& variable = read_variable(settings, metadata);
        return std::make_unique<Histogram>(
            variable, read_one_component(settings, variable), settings.integer<int>("bins"), read_range(settings),
            read_choice(settings, metadata.mesh_of(variable)), settings.text("file"), read_pieces(settings));
      },
  };
}

}  // namespace sidestream
