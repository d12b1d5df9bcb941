// Variables of any mesh that fills space, on a uniform grid.
//
// Each server samples the centres of the grid's cells in its blocks and sends the values to the server that owns the
// row of the grid. If a place has several values, that server takes the one with the least rank.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/analysis/grid_result.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/tree_walk.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"
#include "visualisation/kinds.hpp"
#include "visualisation/sampling/level_mixing.hpp"
#include "visualisation/sampling/samplers.hpp"

namespace sidestream {

namespace {

/// The grid, by axis.
struct ResampleGrid {
  int dimensions = 3;
  std::array<Index, 3> size{1, 1, 1};
  std::array<double, 3> low{}, high{};

  [[nodiscard]] std::vector<double> middles(std::size_t a) const {
    std::vector<double> positions;
    const auto cells = static_cast<double>(size[a]);
    for (Index i = 0; i < size[a]; ++i) {
      positions.push_back(low[a] + (high[a] - low[a]) * ((static_cast<double>(i) + 0.5) / cells));
    }
    return positions;
  }
  [[nodiscard]] GridShape shape() const {
    std::vector<Index> extents;
    for (int a = dimensions - 1; a >= 0; --a) extents.push_back(size[static_cast<std::size_t>(a)]);
    return GridShape(std::move(extents));
  }
};

/// A grid as it is written.
struct GridOptions {
  std::vector<Index> size{};
  std::optional<std::int32_t> level{};
  std::vector<double> low{}, high{};
};

/// Takes the corners of the grid, by default the mesh's.
void take_corners(const Settings& settings, const GridOptions& options, const Mesh& mesh, ResampleGrid& grid) {
  const std::vector<double>&low = options.low, &high = options.high;
  const auto expected = static_cast<std::size_t>(grid.dimensions);
  if (low.empty() != high.empty() || (low.empty() && !mesh.axes())) {
    settings.fail(low.empty() ? "low" : "high",
                  fmt::format("where the grid begins and ends has to be given as `low` and `high`{}",
                              mesh.axes() ? ", or neither of them: then it is the mesh's own bounds" : ""));
  }
  for (std::size_t a = 0; a < expected; ++a) {
    if (!low.empty() && (low.size() != expected || high.size() != expected)) {
      settings.fail(low.size() != expected ? "low" : "high",
                    fmt::format("found {} and {} numbers, expected {}, one for each dimension of the mesh", low.size(),
                                high.size(), expected));
    }
    const auto axis = static_cast<int>(a);
    const auto ends =
        low.empty() ? std::pair(mesh.axes()->node(axis, mesh.cells.lo[a]), mesh.axes()->node(axis, mesh.cells.hi[a]))
                    : std::pair(low[a], high[a]);
    grid.low[a] = low.empty() ? std::min(ends.first, ends.second) : ends.first;
    grid.high[a] = low.empty() ? std::max(ends.first, ends.second) : ends.second;
    if (grid.low[a] < grid.high[a] && std::isfinite(grid.high[a] - grid.low[a])) continue;
    settings.fail("high",
                  fmt::format("the grid reaches from {} to {} along {}; expected two finite numbers, the lower one "
                              "first",
                              grid.low[a], grid.high[a], "xyz"[a]));
  }
}

/// Grid with the cells of a level of a mesh: all of them, or only the cells in a region.
ResampleGrid grid_of_level(const Settings& settings, const GridOptions& options, const Mesh& mesh) {
  const std::int32_t level = *options.level;
  const auto finest = static_cast<std::int32_t>(mesh.refinement.size());
  if (!options.size.empty()) settings.fail("size", "`level` says how many cells there are; leave out one of both");
  if (mesh.axes() == nullptr || level > finest || (mesh.kind() != MeshKind::uniform && level > 0)) {
    settings.fail("level",
                  fmt::format("mesh '{}' is {} and has no level {} of cells of one size; give the `size` of the "
                              "grid",
                              mesh.name, mesh.geometry ? mesh.geometry->kind() : "none", level));
  }
  ResampleGrid region;
  region.dimensions = mesh.dimensions;
  take_corners(settings, options, mesh, region);
  ResampleGrid grid = region;
  const LevelAxes axes(mesh, level);
  for (int a = 0; a < mesh.dimensions; ++a) {
    const auto n = static_cast<std::size_t>(a);
    Index ends[2];
    for (const auto& [corner, end] : {std::pair{region.low[n], 0}, {region.high[n], 1}}) {
      ends[end] = axes.cell_at(a, corner, axes.cells().lo[n]);
      if (ends[end] >= axes.cells().lo[n]) continue;
      settings.fail(end == 0 ? "low" : "high",
                    fmt::format("{} is outside of mesh '{}' along {}; with `level` the corners "
                                "lie in the mesh",
                                corner, mesh.name, "xyz"[n]));
    }
    // A region that ends exactly at the lower face of a cell does not meet that cell.
    const bool up = axes.node(a, 0) <= axes.node(a, 1);
    Index& upper = ends[up ? 1 : 0];
    if (upper > std::min(ends[0], ends[1]) && axes.node(a, upper) == (up ? region.high[n] : region.low[n])) --upper;
    const Index first = std::min(ends[0], ends[1]), end = std::max(ends[0], ends[1]) + 1;
    grid.size[n] = end - first;
    std::tie(grid.low[n], grid.high[n]) = std::minmax({axes.node(a, first), axes.node(a, end)});
  }
  return grid;
}

/// The options of a grid, and the grid for a mesh or tree. Throws Error(configuration).
OptionTable<GridOptions> grid_options() {
  return {
      grid_size_option(&GridOptions::size, false),  // `level` may replace it
      option("level", &GridOptions::level,
             "Instead of `size`: the grid has the cells of this refinement level of a uniform mesh or of an octree: "
             "all of them, or those that overlap the region from `low` to `high`.",
             {.minimum = 0, .maximum = 30}),
      place_option("low", &GridOptions::low,
                   "Lower corner of the grid. Default: that of the mesh, if it is uniform, rectilinear or an "
                   "octree.",
                   false),
      place_option("high", &GridOptions::high, "Upper corner of the grid, with the same default.", false)};
}

ResampleGrid read_grid(const Settings& settings, const GridOptions& options, const Mesh& given) {
  const Mesh mesh = given.kind() == MeshKind::octree ? as_levels(given, options.level.value_or(0)) : given;
  if (options.level) return grid_of_level(settings, options, mesh);
  ResampleGrid grid;
  grid.dimensions = mesh.dimensions;
  const std::vector<Index>& size = options.size;
  if (static_cast<int>(size.size()) != mesh.dimensions) {
    settings.fail("size", fmt::format("found {} numbers, expected {}, one for each dimension of the mesh", size.size(),
                                      mesh.dimensions));
  }
  std::copy(size.begin(), size.end(), grid.size.begin());
  take_corners(settings, options, mesh, grid);
  return grid;
}

using sampling::Rank;

// Encoding of values of contiguous places with the same rank, in words: the first cell in the row, the number of cells,
// the rank, the values of each; two words for each number.
constexpr std::size_t count_at = 2, rank_at = 4, head_words = 10;

void put(std::vector<std::uint32_t>& words, std::uint64_t value) {
  words.push_back(static_cast<std::uint32_t>(value));
  words.push_back(static_cast<std::uint32_t>(value >> 32));
}
std::uint64_t get(const std::uint32_t* words) { return std::uint64_t{words[0]} | std::uint64_t{words[1]} << 32; }

/// Rank of a run.
Rank rank_of(const std::uint32_t* head) {
  const auto number = [&](std::size_t n) { return std::bit_cast<std::int64_t>(get(head + rank_at + 2 * n)); };
  return {number(0), number(1), number(2)};
}

/// Collects values as runs of contiguous cells: blocks of meshes with axes have whole lines of one rank.
class Findings {
 public:
  explicit Findings(Index row_cells) : row_cells_(row_cells) {}

  void add(std::int64_t target, const Rank& rank, std::span<const double> values) {
    const bool goes_on = words_ != nullptr && target == next_ && target % row_cells_ != 0 && rank == rank_;
    if (!goes_on) begin(target, rank);
    for (const double value : values) put(*words_, std::bit_cast<std::uint64_t>(value));
    ++count_;
    (*words_)[run_ + count_at] = static_cast<std::uint32_t>(count_);
    (*words_)[run_ + count_at + 1] = static_cast<std::uint32_t>(count_ >> 32);
    next_ = target + 1;
  }
  [[nodiscard]] Bytes take(std::size_t more) { return rows_.take(more); }

 private:
  void begin(std::int64_t target, const Rank& rank) {
    words_ = &rows_.row(target / row_cells_);
    run_ = words_->size();
    rank_ = rank;
    count_ = 0;
    for (const std::int64_t number : {target % row_cells_, Index{0}, rank.coarseness, rank.first, rank.second}) {
      put(*words_, static_cast<std::uint64_t>(number));
    }
  }

  Index row_cells_;
  RowWords rows_;
  std::vector<std::uint32_t>* words_ = nullptr;  ///< contains the last run
  std::size_t run_ = 0;                          ///< begin of the last run
  std::uint64_t count_ = 0;
  std::int64_t next_ = 0;
  Rank rank_;
};

struct ResampleQuery : sampling::Query {
  GridOptions grid{};
  std::string file{};
  Pieces pieces = Pieces::automatic;
};

class Resample final : public Task {
 public:
  Resample(const ResampleQuery& query, const ResampleGrid& grid, const Metadata& metadata)
      : query_(query), grid_(grid), file_(query.file), pieces_(query.pieces), lost_(file_) {
    std::vector<std::vector<double>> positions;
    for (std::size_t a = 0; a < static_cast<std::size_t>(grid.dimensions); ++a) positions.push_back(grid.middles(a));
    targets_ = std::make_shared<sampling::GridPoints>(std::move(positions));
    selection_ = sampling::selection_of(query_, metadata, targets_);
    mixes_ = sampling::mixes_levels(query_, metadata);
    for (const std::int32_t id : query_.variables) {
      const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
      for (int c = 0; c < variable.components; ++c) {
        arrays_.push_back(
            {variable.components == 1 ? variable.name : fmt::format("{}_{}", variable.name, c), variable.unit});
      }
    }
  }

  Selection selection() const override { return selection_; }
  int passes() const override { return mixes_ ? 2 : 1; }

  Bytes local(const LocalInput& input) override {
    if (mixes_ && input.pass == 0) return sampling::levels_of(query_, *targets_, input);
    sampling::Query own = query_;
    own.linear_cells = own.linear_cells && !mixes_;
    const GridShape grid = grid_.shape();
    Findings findings(grid.row_cells());
    const std::int64_t unknown = sampling::sample(
        own, *targets_, input, [&](std::int64_t target, const Rank& rank, std::span<const double> values) {
          findings.add(target, rank, values);
        });
    const Bytes sums = mixed(input, grid);
    Bytes bytes = findings.take(sums.size() + sizeof(Tail));
    const Tail tail{static_cast<std::int64_t>(sums.size()), unknown};
    for (const BytesView part : {BytesView(sums), bytes_of(tail)}) bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
  }

  Bytes combine(const CombineInput& input) override {
    if (mixes_ && input.pass == 0)
      return sampling::joined_levels(input.partials, targets_->count(), input.communicator);
    const GridShape grid = grid_.shape();
    std::array<std::int64_t, 2> counts{};  // cells that were not searched, places that were found
    std::vector<BytesView> partials, sums;
    for (const Bytes& partial : input.partials) {
      const std::size_t end = partial.size() - sizeof(Tail);
      const auto tail = record_of<Tail>(BytesView(partial).subspan(end));
      const auto found = end - static_cast<std::size_t>(tail.sums);
      counts[0] += tail.unknown;
      partials.push_back(BytesView(partial).first(found));
      sums.push_back(BytesView(partial).subspan(found, end - found));
    }
    const RowsOfServer rows = rows_of(partials, grid, input.communicator);
    const auto cells = static_cast<std::size_t>(grid.row_cells());
    GridResult result(grid, axes(), input.communicator);
    std::vector<std::span<double>> values;
    for (const ArrayName& array : arrays_) {
      values.push_back(result.add(array.name, array.unit, std::numeric_limits<double>::quiet_NaN()));
    }
    for (std::size_t row = 0; row < rows.size(); ++row) {
      counts[1] += fill(rows[row], row * cells, cells, values);
    }
    if (mixes_) mix(input.metadata, rows_of(sums, grid, input.communicator), cells, values);
    input.communicator.sum(counts);
    const std::int64_t outside = targets_->count() - counts[1];
    // If levels are chosen, places outside them are meant to have no value.
    if (input.communicator.rank() == 0) lost_.tell(query_.choice.all() ? outside : 0, targets_->count(), counts[0]);
    result.set({"outside", outside});
    result.write(file_, pieces_, input.results, input.communicator);
    return {};
  }

 private:
  struct ArrayName {
    std::string name, unit;
  };
  /// The end of a partial, after the findings and `sums` bytes of sums.
  struct Tail {
    std::int64_t sums, unknown;
  };

  /// Contributions of cells to places on other levels, if there are any.
  [[nodiscard]] Bytes mixed(const LocalInput& input, const GridShape& grid) const {
    if (!mixes_) return {};
    GridSums sums(grid, sampling::mixed_count(query_, input.metadata) + 1);
    sampling::add_mixed(query_, *targets_, input, input.feedback, sums);
    return sums.take();
  }
  void mix(const Metadata& metadata, const RowsOfServer& rows, std::size_t cells,
           const std::vector<std::span<double>>& values) const {
    const std::size_t count = sampling::mixed_count(query_, metadata) + 1;
    std::vector<double> own(values.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for_each_sum(rows[row], count, [&](Index cell, std::span<const ExactSum> sums) {
        const std::size_t at = row * cells + static_cast<std::size_t>(cell);
        for (std::size_t a = 0; a < own.size(); ++a) own[a] = values[a][at];
        sampling::take_mixed(query_, metadata, sums, own);
        for (std::size_t a = 0; a < own.size(); ++a) values[a][at] = own[a];
      });
    }
  }

  /// Writes the values of a row; returns the number of cells that have some.
  std::int64_t fill(const RowParts& row, std::size_t first, std::size_t cells,
                    const std::vector<std::span<double>>& values) const {
    struct Best {
      const std::uint32_t *head = nullptr, *values = nullptr;
    };
    const std::size_t length = 2 * arrays_.size();
    std::vector<Best> best(cells);
    for (const std::span<const std::uint32_t> part : row) {
      for (std::size_t at = 0; at < part.size();) {
        const std::uint32_t* head = part.data() + at;
        const std::size_t left = part.size() - at;
        const std::uint64_t cell = left >= head_words ? get(head) : cells,
                            count = left >= head_words ? get(head + count_at) : 0;
        if (cell >= cells || count > cells - cell || left < head_words + count * length) {
          fail(Code::internal, "of a row of {} words {} are left, in which a run does not fit", part.size(), left);
        }
        for (std::uint64_t n = 0; n < count; ++n) {
          Best& before = best[cell + n];
          if (before.head == nullptr || rank_of(head) < rank_of(before.head)) {
            before = {head, head + head_words + n * length};
          }
        }
        at += head_words + count * length;
      }
    }
    std::int64_t found = 0;
    for (std::size_t cell = 0; cell < cells; ++cell) {
      if (best[cell].head == nullptr) continue;
      ++found;
      for (std::size_t a = 0; a < values.size(); ++a) {
        values[a][first + cell] = std::bit_cast<double>(get(best[cell].values + 2 * a));
      }
    }
    return found;
  }

  [[nodiscard]] std::vector<GridAxis> axes() const {
    std::vector<GridAxis> axes;
    for (auto a = static_cast<std::size_t>(grid_.dimensions); a-- > 0;) {
      axes.push_back({std::string(1, "xyz"[a]), grid_.middles(a)});
    }
    return axes;
  }

  sampling::Query query_;
  ResampleGrid grid_;
  std::string file_;
  Pieces pieces_;
  sampling::UnsampledPoints lost_;
  std::shared_ptr<const sampling::GridPoints> targets_;
  Selection selection_;
  std::vector<ArrayName> arrays_;
  bool mixes_ = false;
};

OptionTable<ResampleQuery> resample_options() {
  using Query = ResampleQuery;
  return {
      sampling::variables_option(),
      options_of(&Query::grid, grid_options()),
      option<OptionType::choice>(
          "method", &Query::linear_cells,
          "`nearest`: the value of the cell that contains the centre of the grid's cell, or of the nearest node (in "
          "cells that are not boxes the node with the largest weight there). `linear`: linear interpolation as in "
          "`probe`; for variables in cells only on uniform and rectilinear meshes and octrees.",
          {.standard = "nearest", .choices = {{"nearest", false}, {"linear", true}}})
          .then(
              [](const Settings& settings, const std::string& name, const Metadata& metadata, sampling::Query& query) {
                query.linear_nodes = query.linear_cells;
                sampling::check_query(settings, name, query, metadata);
              }),
      sampling::levels_option(),
      file_option(&Query::file, "resampled-{index:05}.h5", "The data set, one file per iteration."),
      pieces_option(&Query::pieces)};
}

/// A variable for each component, as the data set has an array for each.
ResultMesh resampled_mesh(const Settings& settings, const Metadata& metadata) {
  const ResampleQuery query = resample_options().read(settings, metadata);
  const ResampleGrid grid = read_grid(settings, query.grid, sampling::mesh_of(query, metadata));
  ResultMesh made = result_grid({grid.size.begin(), grid.size.begin() + grid.dimensions}, grid.low, grid.high);
  for (const std::int32_t id : query.variables) {
    const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
    for (int c = 0; c < variable.components; ++c) {
      Variable& one = made.variables.emplace_back(result_variable(variable, Centering::cell));
      if (variable.components > 1) one.name = fmt::format("{}_{}", variable.name, c);
      one.components = 1;
    }
  }
  return made;
}

}  // namespace

AnalysisKind resample_kind() {
  return {
      .name = "resample",
      .text =
          "Variables of a uniform, rectilinear, curvilinear or unstructured mesh or of an octree on a uniform grid "
          "of any size and place: the values at the centres of its cells. Values are those that `probe` finds: on "
          "refinement levels the finest cell counts, and places outside all cells have NaN. One warning is given, "
          "and the data set's attribute `outside` has their number. The data set has an array for each component of "
          "the variables and one of positions for each axis. Only blocks that overlap the grid move.",
      .options = resample_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        const ResampleQuery query = resample_options().read(settings, metadata);
        const ResampleGrid grid = read_grid(settings, query.grid, sampling::mesh_of(query, metadata));
        return std::make_unique<Resample>(query, grid, metadata);
      },
      .result_mesh = resampled_mesh};
}

}  // namespace sidestream
