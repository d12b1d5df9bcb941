// Variables of any mesh that fills space, on a uniform grid.
//
// Each server samples the centres of the grid's cells in its blocks and sends the values to the server that owns the
// row of the grid. If a place has several values, that server takes the one with the least rank.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/records.hpp"
#include "visualisation/kinds.hpp"
#include "visualisation/resample/resample_grid.hpp"
#include "visualisation/sampling/level_mixing.hpp"
#include "visualisation/sampling/samplers.hpp"

namespace sidestream {
namespace {

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
