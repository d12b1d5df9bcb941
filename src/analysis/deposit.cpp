// Particles on a uniform grid: their number, or the sum of what they carry.
//
// Each server sums up the shares of its particles for each cell, exactly, and sends the sums to the server that has
// that row of the grid. The schemes are those of Hockney and Eastwood, "Computer Simulation Using Particles" (1988),
// 5-2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/common_options.hpp"
#include "analysis/grid_result.hpp"
#include "analysis/kinds.hpp"
#include "analysis/point_values.hpp"
#include "base/records.hpp"

namespace sidestream {
namespace {

struct DepositQuery {
  std::int32_t coordinates = -1, weight = -1;  ///< no weight: -1, particles are counted
  int component = 0, dimensions = 3;
  bool cloud = true, periodic = false, density = false;
  std::array<Index, 3> size{1, 1, 1};
  std::array<double, 3> low{}, high{1, 1, 1};

  [[nodiscard]] GridShape shape() const {
    std::vector<Index> extents;
    for (int a = dimensions - 1; a >= 0; --a) extents.push_back(size[static_cast<std::size_t>(a)]);
    return GridShape(std::move(extents));
  }
  [[nodiscard]] double width(std::size_t a) const { return (high[a] - low[a]) / static_cast<double>(size[a]); }
  [[nodiscard]] double volume() const {
    double v = 1;
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) v *= width(a);
    return v;
  }
};

/// What a particle gives to cells along one axis.
struct Shares {
  std::array<Index, 2> cells{};
  std::array<double, 2> parts{1, 0};
  int count = 1;
};

/// False if the position is outside of the grid.
bool shares_of(const DepositQuery& query, std::size_t axis, double x, Shares& shares) {
  const Index n = query.size[axis];
  const auto cells = static_cast<double>(n);
  double u = (x - query.low[axis]) / (query.high[axis] - query.low[axis]) * cells;
  if (!std::isfinite(u)) return false;
  if (query.periodic) {
    u -= cells * std::floor(u / cells);
    if (u >= cells) u = 0;
  } else if (!(x >= query.low[axis] && x <= query.high[axis])) {
    return false;
  }
  const auto place = [&](Index cell) {
    if (query.periodic) return (cell % n + n) % n;
    return std::clamp<Index>(cell, 0, n - 1);
  };
  if (!query.cloud) {
    shares = {{place(static_cast<Index>(std::floor(u))), 0}, {1, 0}, 1};
    return true;
  }
  const double lower = std::floor(u - 0.5), part = u - 0.5 - lower;
  const auto first = static_cast<Index>(lower);
  shares = {{place(first), place(first + 1)}, {1 - part, part}, 2};
  return true;
}

/// What goes to one cell.
struct Term {
  Index cell;
  double value;
};

/// Sums up terms of many particles at a time.
class Depositor {
 public:
  Depositor(const DepositQuery& query, const GridShape& grid) : query_(query), sums_(grid, 1) { terms_.reserve(8); }

  void add(const std::array<double, 3>& x, double weight) {
    std::array<Shares, 3> shares;
    for (std::size_t a = 0; a < static_cast<std::size_t>(query_.dimensions); ++a) {
      if (shares_of(query_, a, x[a], shares[a])) continue;
      ++outside;
      return;
    }
    ++inside;
    for (int k = 0; k < shares[2].count; ++k) {
      for (int j = 0; j < shares[1].count; ++j) {
        for (int i = 0; i < shares[0].count; ++i) add_term(shares, {i, j, k}, weight);
      }
    }
    constexpr std::size_t most = std::size_t{1} << 22;  // 64 MiB
    if (terms_.size() >= most) flush();
  }

  [[nodiscard]] Bytes take() {
    flush();
    return sums_.take();
  }

  std::int64_t inside = 0, outside = 0;

 private:
  void add_term(const std::array<Shares, 3>& shares, const std::array<int, 3>& which, double weight) {
    Index cell = 0;
    double part = 1;
    for (std::size_t a = 3; a-- > 0;) {
      const auto n = static_cast<std::size_t>(which[a]);
      cell = cell * query_.size[a] + shares[a].cells[n];
      part *= shares[a].parts[n];
    }
    if (part > 0) terms_.push_back({cell, weight * part});
  }

  void flush() {
    std::sort(terms_.begin(), terms_.end(), [](const Term& a, const Term& b) { return a.cell < b.cell; });
    for (std::size_t n = 0; n < terms_.size();) {
      ExactSum sum;
      const Index cell = terms_[n].cell;
      for (; n < terms_.size() && terms_[n].cell == cell; ++n) sum.add(terms_[n].value);
      sums_.add(cell, {&sum, 1});
    }
    terms_.clear();
    sums_.add_up();
  }

  const DepositQuery& query_;
  GridSums sums_;
  std::vector<Term> terms_;
};

class Deposit final : public Task {
 public:
  Deposit(const DepositQuery& query, const Metadata& metadata, std::string file, Pieces pieces)
      : query_(query), file_(std::move(file)), pieces_(pieces) {
    if (query.weight < 0) return;
    const Variable& weight = metadata.variables.at(static_cast<std::size_t>(query.weight));
    name_ = weight.name;
    unit_ = weight.unit;
  }

  Selection selection() const override {
    Selection selection{{{query_.coordinates, 0}}};
    if (query_.weight >= 0) selection.variables.push_back({query_.weight, 0});
    return selection;
  }

  Bytes local(const LocalInput& input) override {
    const GridShape grid = query_.shape();
    Depositor depositor(query_, grid);
    for (const BlockView& view : input.of(query_.coordinates)) {
      const BlockView* weight = query_.weight >= 0 ? input.find(query_.weight, view.block.id) : nullptr;
      if (query_.weight >= 0 && !weight) continue;  // was not delivered
      for_each_counted(view, [&](Index i) {
        std::array<double, 3> x{};
        for (int c = 0; c < query_.dimensions; ++c) x[static_cast<std::size_t>(c)] = real_at(view, i, c);
        depositor.add(x, weight ? real_at(*weight, i, query_.component) : 1.0);
      });
    }
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
    std::vector<double>& values = result.add(name_, query_.density ? "" : unit_, 0);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for_each_sum(rows[row], 1, [&](Index cell, std::span<const ExactSum> sums) {
        const double sum = sums[0].value();
        values[row * static_cast<std::size_t>(grid.row_cells()) + static_cast<std::size_t>(cell)] =
            query_.density ? sum / query_.volume() : sum;
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
    result.set({"method", std::string(query_.cloud ? "cic" : "ngp")});
    result.set({"quantity", std::string(query_.density ? "density" : "sum")});
    result.set({"particles", counts[0]});
    result.set({"outside", counts[1]});
  }

  DepositQuery query_;
  std::string file_, name_ = "count", unit_;
  Pieces pieces_;
};

void read_grid(const Settings& settings, DepositQuery& query) {
  const auto size = settings.integers<Index>("size");
  const std::vector<double> low = settings.reals("low"), high = settings.reals("high");
  const auto expected = static_cast<std::size_t>(query.dimensions);
  const auto check = [&](const char* option, std::size_t found) {
    if (found == expected) return;
    settings.fail(option,
                  fmt::format("found {} numbers, expected {}, one for each dimension of the mesh", found, expected));
  };
  check("size", size.size());
  check("low", low.size());
  check("high", high.size());
  for (std::size_t a = 0; a < expected; ++a) {
    query.size[a] = size[a];
    query.low[a] = low[a];
    query.high[a] = high[a];
    if (low[a] < high[a] && std::isfinite(high[a] - low[a])) continue;
    settings.fail("high",
                  fmt::format("the grid reaches from {} to {} along {}; expected two finite numbers, the lower one "
                              "first",
                              low[a], high[a], "xyz"[a]));
  }
}

DepositQuery read_deposit(const Settings& settings, const Metadata& metadata) {
  const Mesh& mesh = read_particles(settings, metadata);
  DepositQuery query;
  query.coordinates = mesh.array(Role::coordinates);
  query.dimensions = mesh.dimensions;
  query.cloud = settings.text("method") == "cic";
  query.periodic = settings.boolean("periodic");
  query.density = settings.text("quantity") == "density";
  read_grid(settings, query);
  if (!settings.has("weight")) return query;
  const Variable& weight = *metadata.find_variable(settings.text("weight"));
  if (weight.mesh != mesh.id) {
    settings.fail("weight", fmt::format("'{}' lies on mesh '{}', not on '{}'; weigh with a variable of the particles",
                                        weight.name, metadata.mesh_of(weight).name, mesh.name));
  }
  query.weight = weight.id;
  query.component = read_one_component(settings, weight);
  return query;
}

std::vector<Option> deposit_options() {
  const auto reals = [](const char* name, const char* text) {
    return Option{.name = name,
                  .type = OptionType::real,
                  .list = true,
                  .required = true,
                  .text = text,
                  .least_entries = 1,
                  .most_entries = 3};
  };
  return {
      {.name = "mesh", .type = OptionType::mesh, .required = true, .text = "The particles: a mesh of type `points`."},
      {.name = "weight",
       .type = OptionType::variable,
       .text = "What particles carry, a variable on the mesh. Without it each counts 1."},
      component_option("Which component of `weight`, from 0; needed if it has several."),
      grid_size_option(),
      reals("low", "Lower corner of the grid."),
      reals("high", "Upper corner of the grid."),
      {.name = "method",
       .type = OptionType::choice,
       .default_value = "cic",
       .text =
           "`ngp`: a particle gives all to the cell that it is in. `cic`: to the cells whose centres are around it, "
           "by how near they are (cloud in cell); what would go beyond the grid stays in its outermost cells.",
       .choices = {"cic", "ngp"}},
      {.name = "periodic",
       .type = OptionType::boolean,
       .default_value = "false",
       .text = "Whether the grid goes on at its other end along all axes: then no particle is outside."},
      {.name = "quantity",
       .type = OptionType::choice,
       .default_value = "sum",
       .text = "`density`: the sums divided by the volume of a cell.",
       .choices = {"sum", "density"}},
      file_option("deposit-{index:05}.h5", "The data set, one file an iteration."),
      pieces_option()};
}

}  // namespace

AnalysisKind deposit_kind() {
  return {
      .name = "deposit",
      .text =
          "Particles on a uniform grid: how many there are in each cell, or the sum or density of what they carry. "
          "Each particle counts once: flagged ghosts do not, and of those with the same `point_ids` one does. "
          "Particles outside of the grid, or at no place (NaN), do not count; the data set's attribute `outside` says "
          "how many they were, `particles` how many counted. Besides the array of the weight's name (without one: "
          "`count`) it has one of cell centres for each axis. Shares are rounded once, sums are exact and rounded "
          "once, so that the result does not depend on how particles are divided.",
      .options = deposit_options(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Deposit>(read_deposit(settings, metadata), metadata, settings.text("file"),
                                         read_pieces(settings));
      }};
}

}  // namespace sidestream
