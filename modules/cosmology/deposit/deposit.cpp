// Particles on a uniform grid: their number, or the sum of their weights.
//
// Each server adds up the shares of its particles for each cell exactly, and sends the sums to the server that owns
// that row of the grid.
#include <algorithm>
#include <array>

#include "cosmology/common/deposit_sums.hpp"
#include "cosmology/kinds.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/analysis/grid_result.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {
namespace {

struct DepositTaskQuery {
  DepositQuery grid{};
  bool density = false;  ///< true: densities; false: sums
  std::string file{};
  Pieces pieces = Pieces::automatic;
};

class Deposit final : public Task {
 public:
  explicit Deposit(const DepositTaskQuery& query)
      : query_(query.grid), density_(query.density), file_(query.file), pieces_(query.pieces) {}

  Selection selection() const override {
    Selection selection{{{query_.coordinates, 0}}};
    if (query_.weight) selection.variables.push_back({query_.weight->id, 0});
    return selection;
  }

  Bytes local(const LocalInput& input) override {
    const GridShape grid = query_.shape();
    Depositor depositor(query_, grid);
    depositor.add(input);
    Bytes rows = depositor.take();
    // At the end, so that the rows need not be moved.
    for (const std::int64_t count : {depositor.inside, depositor.outside}) {
      const BytesView bytes = bytes_of(count);
      rows.insert(rows.end(), bytes.begin(), bytes.end());
    }
    return rows;
  }

  Bytes combine(const CombineInput& input) override {
    const GridShape grid = query_.shape();
    std::array<std::int64_t, 2> counts{};
    std::vector<BytesView> partials;
    for (const Bytes& partial : input.partials) {
      const std::size_t rows = partial.size() - sizeof counts;
      const auto counted = records_of<std::int64_t>(BytesView(partial).subspan(rows));
      for (std::size_t n = 0; n < counts.size(); ++n) counts[n] += counted.at(n);
      partials.push_back(BytesView(partial).first(rows));
    }
    input.communicator.sum(counts);
    const auto rows = rows_of(partials, grid, input.communicator);
    GridResult result(grid, axes(), input.communicator);
    describe(result, counts);
    const std::span<double> values = result.add(query_.weight ? query_.weight->name : "count",
                                                density_ || !query_.weight ? "" : query_.weight->unit, 0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for_each_sum(rows[row], 1, [&](Index cell, std::span<const ExactSum> sums) {
        const double sum = sums[0].value();
        values[row * static_cast<std::size_t>(grid.row_cells()) + static_cast<std::size_t>(cell)] =
            density_ ? sum / query_.volume() : sum;
      });
    }
    result.write(file_, pieces_, input.results, input.communicator);
    return {};
  }

 private:
  [[nodiscard]] std::vector<GridAxis> axes() const {
    std::vector<GridAxis> axes;
    for (auto a = static_cast<std::size_t>(query_.dimensions); a-- > 0;) {
      GridAxis& axis = axes.emplace_back(GridAxis{std::string(1, "xyz"[a]), {}});
      for (Index i = 0; i < query_.size[a]; ++i) {
        axis.positions.push_back(query_.low[a] + query_.width(a) * (static_cast<double>(i) + 0.5));
      }
    }
    return axes;
  }

  void describe(GridResult& result, const std::array<std::int64_t, 2>& counts) const {
    result.set({"method", name_of(query_.assignment)});
    result.set({"quantity", std::string(density_ ? "density" : "sum")});
    result.set({"particles", counts[0]});
    result.set({"outside", counts[1]});
  }

  DepositQuery query_;
  bool density_;
  std::string file_;
  Pieces pieces_;
};

OptionTable<DepositTaskQuery> deposit_options() {
  using Query = DepositTaskQuery;
  return {
      options_of(&Query::grid,
                 deposit_grid_options(" What would go beyond the grid stays in its outermost cells.")
                     .add(option("periodic", &DepositQuery::periodic,
                                 "Makes the grid periodic along all axes, so that no particle is outside.",
                                 {.standard = false}))),
      option<OptionType::choice>("quantity", &Query::density, "`density`: the sums divided by the volume of a cell.",
                                 {.standard = "sum", .choices = {{"sum", false}, {"density", true}}}),
      file_option(&Query::file, "deposit-{index:05}.h5", "The data set, one file per iteration."),
      pieces_option(&Query::pieces)};
}

ResultMesh deposited_mesh(const Settings& settings, const Metadata& metadata) {
  const DepositTaskQuery query = deposit_options().read(settings, metadata);
  const DepositQuery& grid = query.grid;
  std::array<double, 3> low{}, high{};
  std::copy(grid.low.begin(), grid.low.end(), low.begin());
  std::copy(grid.high.begin(), grid.high.end(), high.begin());
  ResultMesh made = result_grid({grid.size.begin(), grid.size.begin() + grid.dimensions}, low, high);
  Variable amount;
  amount.name = grid.weight ? grid.weight->name : "count";
  if (grid.weight && !query.density) amount.unit = grid.weight->unit;
  made.variables.push_back(amount);
  return made;
}

}  // namespace

AnalysisKind deposit_kind() {
  return {
      .name = "deposit",
      .text =
          "Particles on a uniform grid: their number in each cell, or the sum or density of their weights. Each "
          "particle counts once: flagged ghosts do not count, and of particles with the same `point_ids` only one "
          "does. Particles outside the grid, or at NaN, do not count; the data set's attribute `outside` has their "
          "number, and `particles` the number of those that count. Besides the array with the weight's name (without "
          "a weight: `count`) it has one of cell centres for each axis. Shares are rounded once, sums are exact and "
          "rounded once, so that the result does not depend on how particles are divided.",
      .options = deposit_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Deposit>(deposit_options().read(settings, metadata));
      },
      .result_mesh = deposited_mesh};
}

}  // namespace sidestream
