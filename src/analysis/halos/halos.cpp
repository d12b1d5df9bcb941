// Halos: connected sets of cells above a threshold whose maximum reaches a higher one, as in section 4.1 of "In situ
// and in-transit analysis of cosmological simulations" (Friesen et al., 2016).
//
// Each server finds the components of its blocks. Those that touch no other block are done with at once; of the others
// what they have at each place of each axis goes on, until it is known which belong together and where their peaks are.
#include <fmt/format.h>

#include "analysis/common_options.hpp"
#include "analysis/halos/gathering.hpp"
#include "analysis/halos/history.hpp"
#include "analysis/halos/mass_function.hpp"
#include "analysis/kinds.hpp"

namespace sidestream {
namespace halos {
namespace {

struct HalosQuery {
  Field field;
  Thresholds thresholds;
  std::string file;
  Pieces pieces = Pieces::automatic;
  std::optional<MassFunction> mass_function;
  std::optional<HistoryQuery> history;
};

/// Names of columns of which there is one for each axis of the mesh.
void add_columns(std::vector<Column>& columns, const std::string& name, const char* axes, const Field& field,
                 const std::vector<std::array<double, 3>>& values) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(field.lattice.dimensions); ++a) {
    std::vector<double> column;
    for (const std::array<double, 3>& value : values) column.push_back(value[a]);
    columns.push_back({name + axes[a], std::move(column)});
  }
}
void add_columns(std::vector<Column>& columns, const std::string& name, const char* axes, const Field& field,
                 const std::vector<Index3>& values) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(field.lattice.dimensions); ++a) {
    std::vector<std::int64_t> column;
    for (const Index3& value : values) column.push_back(value[a]);
    columns.push_back({name + axes[a], std::move(column)});
  }
}

/// A row for each halo; `first`: the number of the first one.
Table table_of(const std::vector<Halo>& halos, const Field& field, std::int64_t first) {
  const Lattice& lattice = field.lattice;
  std::vector<std::int64_t> numbers, ids, cells;
  std::vector<double> peaks, masses;
  std::vector<Index3> at, low, high;
  std::vector<std::array<double, 3>> places, weighted, plain;
  for (const Halo& halo : halos) {
    const Index3 peak = lattice.cell_of(halo.peak.id);
    numbers.push_back(first++);
    ids.push_back(halo.peak.id);
    cells.push_back(halo.cells);
    peaks.push_back(halo.peak.value);
    masses.push_back(halo.mass * field.cell_volume());
    Index3& cell = at.emplace_back(peak);
    Index3 &lowest = low.emplace_back(halo.low), &highest = high.emplace_back(halo.high);
    places.emplace_back();
    weighted.emplace_back();
    plain.emplace_back();
    for (std::size_t a = 0; a < 3; ++a) {
      cell[a] += lattice.origin[a];
      lowest[a] += cell[a];
      highest[a] += cell[a];
      places.back()[a] = field.position(a, peak[a], 0);
      weighted.back()[a] = field.position(a, peak[a], halo.weighted[a]);
      plain.back()[a] = field.position(a, peak[a], halo.plain[a]);
    }
  }
  std::vector<Column> columns{{"halo", numbers}, {"peak_index", ids}};
  add_columns(columns, "peak_", "ijk", field, at);
  add_columns(columns, "peak_", "xyz", field, places);
  columns.push_back({"peak_value", peaks});
  columns.push_back({"cells", cells});
  columns.push_back({"mass", masses});
  add_columns(columns, "mass_", "xyz", field, weighted);
  add_columns(columns, "centre_", "xyz", field, plain);
  add_columns(columns, "low_", "ijk", field, low);
  add_columns(columns, "high_", "ijk", field, high);
  return Table(std::move(columns));
}

class Halos final : public Task {
 public:
  explicit Halos(HalosQuery query) : query_(std::move(query)), steps_(row_steps(query_.field.connectivity)) {
    if (query_.history) history_.emplace(*query_.history, query_.field);
  }

  Selection selection() const override {
    Selection selection{{{query_.field.variable, 0}}};
    selection.geometry = false;
    return selection;
  }
  int passes() const override { return query_.thresholds.of_mean ? 2 : 1; }

  Bytes local(const LocalInput& input) override {
    const auto& views = input.of(query_.field.variable);
    if (input.pass + 1 < passes()) return sum_values(views, query_.field.component);
    const double unit = query_.thresholds.of_mean ? mean_of(input.feedback) : 1;
    return find_parts(views, query_.field.lattice, rule(unit), halo_rule(unit), history_.has_value()).to_bytes();
  }

  Bytes combine(const CombineInput& input) override {
    if (input.pass + 1 < passes()) return mean_ = combine_mean(input.partials, input.communicator);
    const double unit = query_.thresholds.of_mean ? mean_of(mean_) : 1;
    FoundParts found;
    for (const Bytes& partial : input.partials) found.append(FoundParts::from_bytes(partial));
    const Gathered gathered =
        gather_halos(std::move(found), query_.field.lattice, rule(unit), halo_rule(unit), input.communicator);
    const std::vector<Halo> halos = sorted_halos(gathered.halos, input.communicator);
    const std::int64_t first = input.communicator.exclusive_sum(static_cast<std::int64_t>(halos.size()));
    input.results.add_parts(query_.file, table_of(halos, query_.field, first), input.communicator, query_.pieces);
    if (query_.mass_function) write_mass_function(*query_.mass_function, halos, query_.field, input);
    if (history_) history_->follow(gathered.runs, halos, input);
    return {};
  }

 private:
  [[nodiscard]] Rule rule(double unit) const {
    return {query_.thresholds.boundary * unit, query_.field.component, steps_};
  }
  [[nodiscard]] HaloRule halo_rule(double unit) const {
    return {query_.thresholds.peak * unit, query_.thresholds.least_cells};
  }

  HalosQuery query_;
  std::vector<RowStep> steps_;
  std::optional<HaloHistory> history_;
  Bytes mean_;  ///< between the passes of one iteration
};

std::vector<Option> options() {
  std::vector<Option> all = field_options();
  for (Option& option : threshold_options()) all.push_back(std::move(option));
  all.push_back(file_option("halos-{index:05}.csv", "The table, a row for each halo."));
  all.push_back(pieces_option());
  all.push_back(mass_function_option());
  all.push_back(history_option());
  return all;
}

}  // namespace
}  // namespace halos

AnalysisKind halos_kind() {
  return {
      .name = "halos",
      .text =
          "Halos of a density: connected sets of cells >= `boundary` whose greatest value is >= `halo`, on uniform meshes "
          "of one level and one to three dimensions. One table an iteration, in the order of the peaks' linear index "
          "(i * nj + j) * nk + k, counted from the mesh's lower end; of equal values that at the larger one is the peak. "
          "Each cell counts once: ghosts do not, and NaN belongs to nothing. `mass` is the sum of the values times the "
          "volume of a cell (area, length on meshes of two, one dimensions), in the variable's unit times that of the "
          "coordinates cubed. `mass_x` and so on are the centroid weighted with the values, `centre_x` the plain one, "
          "both unwrapped about the peak where the mesh is periodic, and then brought back into it; `low_i` to `high_i` "
          "are the first and last cells, beyond the mesh's ends where a halo goes on at the other one. Sums are exact "
          "and rounded once, so the table does not depend on how the mesh is divided. docs/cosmology.md.",
      .options = halos::options(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<halos::Halos>(halos::HalosQuery{
            halos::read_field(settings, metadata, "`halos`"), halos::read_thresholds(settings), settings.text("file"),
            read_pieces(settings), halos::read_mass_function(settings), halos::read_history(settings)});
      },
  };
}

}  // namespace sidestream
