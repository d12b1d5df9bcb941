// Histogram of two variables: numbers of pairs of values in the fields of a grid.
//
// Passes as in histogram.cpp. Weights are exact sums by field: terms are collected, sorted by field and added up in
// batches (WeightSums), and each server rounds the sums of its rows of the grid once (GridSums).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "analysis/common/kinds.hpp"
#include "sidestream/kit/analysis/chart.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/reduce/bins/bin_counts.hpp"
#include "sidestream/kit/reduce/bins/bins.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"

namespace sidestream {
namespace {

struct BinAxis {
  Variable variable{};
  int component = 0, bins = 0;
  std::optional<std::array<double, 2>> range{};
  bool logarithmic = false;

  [[nodiscard]] Bins in(const std::array<double, 2>& found) const {
    return logarithmic ? Bins::logarithmic(found[0], found[1], bins) : Bins(found[0], found[1], bins);
  }
};

struct Histogram2dQuery {
  BinAxis x{}, y{};
  std::optional<Variable> weight{};  ///< with one component, summed
  Normalisation how = Normalisation::counts;
  std::string file{};
  std::optional<ChartFile> picture{};
};

/// Exact sums of weights by field of the grid, many at a time.
class WeightSums {
 public:
  explicit WeightSums(const GridShape& grid) : sums_(grid, 1) {}
  void add(Index field, double weight) {
    constexpr std::size_t most = std::size_t{1} << 20;  // 16 MiB
    terms_.emplace_back(field, weight);
    if (terms_.size() >= most) flush();
  }
  [[nodiscard]] Bytes take() {
    flush();
    return sums_.take();
  }

 private:
  void flush() {
    std::sort(terms_.begin(), terms_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t n = 0; n < terms_.size();) {
      ExactSum sum;
      const Index field = terms_[n].first;
      for (; n < terms_.size() && terms_[n].first == field; ++n) sum.add(terms_[n].second);
      sums_.add(field, {&sum, 1});
    }
    terms_.clear();
    sums_.add_up();
  }

  GridSums sums_;
  std::vector<std::pair<Index, double>> terms_;
};

class Histogram2d final : public Task {
 public:
  explicit Histogram2d(const Histogram2dQuery& query)
      : axes_{query.x, query.y}, weight_(query.weight), how_(query.how), file_(query.file), picture_(query.picture) {}

  Selection selection() const override {
    Selection selection{{{axes_[0].variable.id, 0}, {axes_[1].variable.id, 0}}};
    if (weight_) selection.variables.push_back({weight_->id, 0});
    selection.geometry = false;
    return selection;
  }
  int passes() const override { return axes_[0].range && axes_[1].range ? 1 : 2; }

  Bytes local(const LocalInput& input) override {
    if (input.pass + 1 < passes()) return to_bytes(extremes(input));
    const std::array<Bins, 2> bins = bins_of(input.feedback);
    Words counts(size(), 0);
    const std::size_t columns = bins[0].edges().size() - 1, rows = bins[1].edges().size() - 1;
    const auto field_of = [&](double a, double b) {
      const std::size_t x = bins[0].slot(a), y = bins[1].slot(b);
      return x < columns && y < rows ? y * columns + x : rows * columns;
    };
    if (!weight_) {
      for_both(input, [&](std::span<const double* const, 2> lines, Index count) {
        for (Index i = 0; i < count; ++i) ++counts[field_of(lines[0][i], lines[1][i])];
      });
      return to_bytes(counts);
    }
    const GridShape grid = shape();
    WeightSums weights(grid);
    for_all_three(input, [&](std::span<const double* const, 3> lines, Index count) {
      for (Index i = 0; i < count; ++i) {
        const std::size_t field = field_of(lines[0][i], lines[1][i]);
        ++counts[field];
        if (field < rows * columns) weights.add(static_cast<Index>(field), lines[2][i]);
      }
    });
    Bytes bytes = to_bytes(counts);
    const Bytes behind = weights.take();
    bytes.insert(bytes.end(), behind.begin(), behind.end());
    return bytes;
  }

  Bytes combine(const CombineInput& input) override {
    if (input.pass + 1 < passes()) return combine_extremes(input);
    Words counts(size(), 0);
    std::vector<BytesView> weights;
    for (const Bytes& partial : input.partials) {
      const std::size_t own = counts.size() * sizeof(std::int64_t);
      if (partial.size() < own) fail(Code::internal, "counts of two variables have {} bytes", partial.size());
      const Words words = to_words(BytesView(partial).first(own), counts.size());
      for (std::size_t n = 0; n < counts.size(); ++n) counts[n] += words[n];
      weights.push_back(BytesView(partial).subspan(own));
    }
    input.communicator.sum(counts);
    const std::array<Bins, 2> bins = bins_of(found_);
    const std::int64_t outside = counts.back();
    counts.pop_back();
    std::vector<double> amounts(counts.begin(), counts.end());
    if (weight_) amounts = all_weights(weights, input.communicator);
    if (input.communicator.rank() == 0) input.results.add(file_, data(bins, counts, amounts, outside));
    if (picture_) draw(input);
    return {};
  }

 private:
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(axes_[0].bins) * static_cast<std::size_t>(axes_[1].bins) + 1;
  }

  [[nodiscard]] GridShape shape() const { return GridShape({axes_[1].bins, axes_[0].bins}); }

  /// Collective: the sums of weights, on all servers.
  [[nodiscard]] std::vector<double> all_weights(std::span<const BytesView> partials, Communicator& servers) const {
    const GridShape grid = shape();
    const auto rows = rows_of(partials, grid, servers);
    const Index first = grid.first_row(servers.rank(), servers.size());
    // Each server has the bits of its own rows and zero elsewhere, so that their sum has all rows.
    Words bits(size() - 1, 0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for_each_sum(rows[row], 1, [&](Index cell, std::span<const ExactSum> sums) {
        const Index at = (first + static_cast<Index>(row)) * grid.row_cells() + cell;
        bits[static_cast<std::size_t>(at)] = std::bit_cast<std::int64_t>(sums[0].value());
      });
    }
    servers.sum(bits);
    std::vector<double> weights;
    for (const std::int64_t word : bits) weights.push_back(std::bit_cast<double>(word));
    return weights;
  }

  template <class F>
  void for_all_three(const LocalInput& input, F&& f) const {
    for (const BlockView& view : input.of(axes_[0].variable.id)) {
      const BlockView* other = input.find(axes_[1].variable.id, view.block.id);
      const BlockView* weight = input.find(weight_->id, view.block.id);
      if (other == nullptr || weight == nullptr) continue;  // not delivered
      for_each_line<3>({{{&view, axes_[0].component}, {other, axes_[1].component}, {weight, 0}}}, f);
    }
  }

  template <class F>
  void for_both(const LocalInput& input, F&& f) const {
    for (const BlockView& view : input.of(axes_[0].variable.id)) {
      const BlockView* other = input.find(axes_[1].variable.id, view.block.id);
      if (other == nullptr) continue;  // not delivered
      for_each_line<2>({{{&view, axes_[0].component}, {other, axes_[1].component}}}, f);
    }
  }

  /// For each axis the key of the smallest counted value and the complement of the key of the largest.
  [[nodiscard]] Words extremes(const LocalInput& input) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::array<double, 2> low{infinity, infinity}, high{-infinity, -infinity};
    for_both(input, [&](std::span<const double* const, 2> lines, Index count) {
      for (std::size_t a = 0; a < 2; ++a) {
        for (Index i = 0; i < count; ++i) {
          const double v = lines[a][i];
          if (!std::isfinite(v) || (axes_[a].logarithmic && !(v > 0))) continue;
          low[a] = std::min(low[a], v);
          high[a] = std::max(high[a], v);
        }
      }
    });
    Words words;
    for (std::size_t a = 0; a < 2; ++a) {
      const bool any = low[a] <= high[a];
      words.push_back(any ? order_key(low[a]) : least_of_none);
      words.push_back(any ? ~order_key(high[a]) : least_of_none);
    }
    return words;
  }

  Bytes combine_extremes(const CombineInput& input) {
    Words least(4, least_of_none);
    for (const Bytes& partial : input.partials) {
      const Words words = to_words(partial, 4);
      for (std::size_t n = 0; n < 4; ++n) least[n] = std::min(least[n], words[n]);
    }
    input.communicator.minimum(least);
    return found_ = to_bytes(least);
  }

  [[nodiscard]] std::array<Bins, 2> bins_of(BytesView feedback) const {
    const auto range = [&](std::size_t a) -> std::array<double, 2> {
      if (axes_[a].range) return *axes_[a].range;
      const Words least = to_words(feedback, 4);
      if (least[2 * a] == least_of_none) return {1, 10};  // there is no such value
      return {from_order_key(least[2 * a]), from_order_key(~least[2 * a + 1])};
    };
    return {axes_[0].in(range(0)), axes_[1].in(range(1))};
  }

  /// Density of counts or weights; the widths along both axes are multiplied.
  [[nodiscard]] std::vector<double> density(const std::array<Bins, 2>& bins, const std::vector<double>& counts) const {
    const std::size_t columns = bins[0].edges().size() - 1;
    const auto area = [&](std::size_t n) {
      const std::size_t x = n % columns, y = n / columns;
      return (bins[0].edges()[x + 1] - bins[0].edges()[x]) * (bins[1].edges()[y + 1] - bins[1].edges()[y]);
    };
    ExactSum total;
    for (std::size_t n = 0; n < counts.size(); ++n) {
      total.add_product(counts[n], how_ == Normalisation::gimlet ? area(n) : 1);
    }
    const double all = total.value();
    std::vector<double> result;
    for (std::size_t n = 0; n < counts.size(); ++n) {
      const double value = counts[n] / (all * (how_ == Normalisation::density ? area(n) : 1));
      result.push_back(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
    }
    return result;
  }

  [[nodiscard]] DataSet data(const std::array<Bins, 2>& bins, const Words& counts, const std::vector<double>& amounts,
                             std::int64_t outside) const {
    DataSet set;
    const std::vector<Index> extents{axes_[1].bins, axes_[0].bins};
    const auto add = [&](const char* name, Type type, std::vector<std::string> names, std::vector<Index> size,
                         Bytes values) {
      DataSet::Array& array = set.arrays.emplace_back();
      array.name = name;
      array.type = type;
      array.axes = std::move(names);
      array.extents = std::move(size);
      array.values = std::move(values);
    };
    add("count", Type::int64, {"y", "x"}, extents, bytes_of(counts));
    if (weight_) add("weight", Type::float64, {"y", "x"}, extents, bytes_of(amounts));
    if (how_ != Normalisation::counts)
      add("density", Type::float64, {"y", "x"}, extents, bytes_of(density(bins, amounts)));
    add("x_edges", Type::float64, {"x_edge"}, {axes_[0].bins + 1}, bytes_of(bins[0].edges()));
    add("y_edges", Type::float64, {"y_edge"}, {axes_[1].bins + 1}, bytes_of(bins[1].edges()));
    set.attributes = {{"x", axes_[0].variable.title()}, {"y", axes_[1].variable.title()}, {"outside", outside}};
    if (weight_) set.attributes.push_back({"weight", weight_->title()});
    return set;
  }

  void draw(const CombineInput& input) const {
    std::vector<std::string> about = titled("x", axes_[0].variable);
    const auto add = [&](const std::vector<std::string>& more) { about.insert(about.end(), more.begin(), more.end()); };
    add(titled("y", axes_[1].variable));
    if (weight_) add(titled("weight", *weight_));
    const std::string of = weight_ ? weight_->title() : "count";
    draw_chart(*picture_, file_,
               fmt::format("{}: {} over {}", of, axes_[1].variable.title(), axes_[0].variable.title()), about, input);
  }

  std::array<BinAxis, 2> axes_;
  std::optional<Variable> weight_;
  Normalisation how_;
  std::string file_;
  std::optional<ChartFile> picture_;
  Bytes found_;  ///< kept between the passes of one iteration
};

void check_axis(const OptionTable<BinAxis>& options, const Settings& settings, const Metadata&, const BinAxis& axis) {
  if (!axis.range) return;
  const auto [low, high] = *axis.range;
  if (low < high && std::isfinite(high - low) && (!axis.logarithmic || low > 0)) return;
  options.fail(settings, &BinAxis::range,
               fmt::format("the range [{}, {}] is not two finite numbers in ascending order{}", low, high,
                           axis.logarithmic ? ", above 0" : ""));
}

OptionTable<BinAxis> axis_options() {
  return OptionTable<BinAxis>{
      variable_option(&BinAxis::variable, "The variable."),
      one_component_option(&BinAxis::component, &BinAxis::variable),
      option("bins", &BinAxis::bins, "Number of intervals.", {.standard = 64, .minimum = 1, .maximum = 4096}),
      option("range", &BinAxis::range,
             "Lower edge of the first and upper edge of the last interval. Default: the smallest and the largest "
             "finite value of the iteration (above 0 for logarithmic scales), which costs a second pass."),
      bin_scale_option(&BinAxis::logarithmic)}
      .then(check_axis);
}

void check_same_points(const Settings& settings, const std::string& name, const Metadata&,
                       const Histogram2dQuery& query) {
  const Variable &x = query.x.variable, &y = query.y.variable;
  if (x.mesh == y.mesh && x.centering == y.centering && x.role == y.role) return;
  settings.fail(name, fmt::format("'{}' does not lie in the same points as '{}'; name variables of the same mesh and "
                                  "centering",
                                  y.name, x.name));
}

OptionTable<Histogram2dQuery> histogram2d_options() {
  using Query = Histogram2dQuery;
  return {option("x", &Query::x, "The horizontal axis.", {.required = true, .options = axis_options()}),
          option("y", &Query::y, "The vertical axis.", {.required = true, .options = axis_options()})
              .then(check_same_points),
          option("weight", &Query::weight,
                 "A variable with one component at the same points that is summed in each field, such as a mass or a "
                 "volume.")
              .then([](const Settings& settings, const std::string& name, const Metadata&, const Query& query) {
                if (query.weight) require_companion(settings, name, *query.weight, query.x.variable);
              }),
          normalisation_option(&Query::how),
          file_option(&Query::file, "histogram2d-{index:06}.h5", "The data set."),
          option("image", &Query::picture, "A chart of the table in colours.", {.options = colours_options()})};
}

}  // namespace

AnalysisKind histogram2d_kind() {
  return {
      .name = "histogram2d",
      .text =
          "Counts points by the values of two variables, in each pair of intervals of `x` and `y`, as in a phase "
          "diagram of temperature and density. The data set has `count` (y slower, x faster); with `weight` an array "
          "of that name, the exact sums of the weights; with `normalise` an array `density`; the edges `x_edges` and "
          "`y_edges`; and as attributes the variables' titles and the number of points outside. Points, intervals "
          "and edges are those of `histogram`; both variables must be at the same points.",
      .options = histogram2d_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Histogram2d>(histogram2d_options().read(settings, metadata));
      }};
}

}  // namespace sidestream
