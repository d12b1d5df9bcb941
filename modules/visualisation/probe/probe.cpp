// Values of variables at points and along lines, over time.
//
// Each server samples the places in its blocks and passes on the values. If a place has several values, rank 0 takes
// the one with the least rank. That does not depend on how the mesh is divided.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/records.hpp"
#include "visualisation/kinds.hpp"
#include "visualisation/sampling/level_mixing.hpp"
#include "visualisation/sampling/samplers.hpp"

namespace sidestream {
namespace {

using sampling::Place;
using sampling::Rank;
using sampling::read_place;

/// Places of the values, and their names in the table.
struct ProbePlaces {
  std::vector<Place> at;
  std::vector<std::string> names;
  std::vector<std::int64_t> samples;  ///< index on its line
};

struct ProbePoint {
  std::optional<std::string> name{};
  std::vector<double> at{};
};
struct ProbeLine {
  std::optional<std::string> name{};
  std::vector<double> from{}, to{};
  std::int64_t samples = 0;
};
struct ProbeQuery : sampling::Query {
  std::vector<ProbePoint> points{};
  std::vector<ProbeLine> lines{};
  std::string file{};
};

OptionTable<ProbeQuery> probe_options() {
  using Query = ProbeQuery;
  const char* const about_name = "Its name in the table; default: `point0`, `line0`, ...";
  const OptionTable<ProbePoint> point{
      option("name", &ProbePoint::name, about_name),
      place_option("at", &ProbePoint::at, "The position: a number for each dimension of the mesh.")};
  const OptionTable<ProbeLine> line{
      option("name", &ProbeLine::name, about_name), place_option("from", &ProbeLine::from, "The first end."),
      place_option("to", &ProbeLine::to, "The second end."),
      option("samples", &ProbeLine::samples, "Number of places on the line, at equal distances, including both ends.",
             {.standard = 100, .minimum = 2, .maximum = 1 << 20})};
  return {sampling::variables_option(),
          option("point", &Query::points, "Points: one such map, or a list of them.", {.options = point}),
          option("line", &Query::lines, "Lines: one such map, or a list of them.", {.options = line}),
          option<OptionType::choice>(
              "cells", &Query::linear_cells,
              "For variables in cells. `own`: the value of the cell that contains the place. `linear`: "
              "interpolation between cell centres, on uniform and rectilinear meshes and octrees; constant in the "
              "outer half of the outermost cells, and the cell's own value where a neighbour has none. A neighbour "
              "on another level is replaced by the mean of the finer cells, or by the coarser cell's value.",
              {.standard = "own", .choices = {{"own", false}, {"linear", true}}})
              .then([](const Settings& settings, const std::string& name, const Metadata& metadata,
                       const sampling::Query& query) { sampling::check_query(settings, name, query, metadata); }),
          sampling::levels_option(),
          file_option(&Query::file, "probe.csv",
                      "The table. Rows of later iterations are appended unless the name tells iterations apart.")};
}

ProbePlaces read_probe_places(const Settings& settings, const ProbeQuery& query, int dimensions) {
  const OptionTable<ProbeQuery> options = probe_options();
  ProbePlaces places;
  const auto add = [&](const std::string& name, std::int64_t sample, const Place& at) {
    places.at.push_back(at);
    places.names.push_back(name);
    places.samples.push_back(sample);
  };
  const std::vector<Settings> points = settings.maps(options.name(&ProbeQuery::points));
  for (std::size_t n = 0; n < points.size(); ++n) {
    const std::string name = query.points[n].name.value_or(fmt::format("point{}", n));
    add(name, 0, read_place(points[n], "at", dimensions));
  }
  const std::vector<Settings> lines = settings.maps(options.name(&ProbeQuery::lines));
  for (std::size_t number = 0; number < lines.size(); ++number) {
    const Place from = read_place(lines[number], "from", dimensions), to = read_place(lines[number], "to", dimensions);
    const ProbeLine& line = query.lines[number];
    const std::string name = line.name.value_or(fmt::format("line{}", number));
    for (std::int64_t n = 0; n < line.samples; ++n) {
      add(name, n, sampling::place_between(from, to, n, line.samples));
    }
  }
  if (places.at.empty()) settings.fail("point", "there is no place to look at; give a `point` or a `line`");
  return places;
}

struct Found {
  Rank rank;
  std::vector<double> values;
};
using FoundByTarget = std::map<std::int64_t, Found>;

void keep_least(FoundByTarget& all, std::int64_t target, const Rank& rank, std::span<const double> values) {
  const auto [at, is_new] = all.try_emplace(target, Found{rank, {}});
  if (!is_new && !(rank < at->second.rank)) return;
  at->second.rank = rank;
  at->second.values.assign(values.begin(), values.end());
}

class Probe final : public Task {
 public:
  Probe(const ProbeQuery& query, ProbePlaces places, const Metadata& metadata)
      : query_(query), places_(std::move(places)), file_(query.file), lost_(file_) {
    const Variable& first = metadata.variables.at(static_cast<std::size_t>(query_.variables.at(0)));
    dimensions_ = metadata.mesh_of(first).dimensions;
    targets_ = std::make_shared<sampling::ScatteredPoints>(dimensions_, places_.at);
    selection_ = sampling::selection_of(query_, metadata, targets_);
    values_ = sampling::value_count(query_, metadata);
    mixes_ = sampling::mixes_levels(query_, metadata);
    for (const std::int32_t id : query_.variables) {
      const Variable& variable = metadata.variables.at(static_cast<std::size_t>(id));
      for (int c = 0; c < variable.components; ++c) {
        add_column(variable.components == 1 ? variable.name : fmt::format("{}_{}", variable.name, c));
      }
    }
  }

  Selection selection() const override { return selection_; }
  int passes() const override { return mixes_ ? 2 : 1; }

  Bytes local(const LocalInput& input) override {
    if (mixes_ && input.pass == 0) return sampling::levels_of(query_, *targets_, input);
    sampling::Query own = query_;
    own.linear_cells = own.linear_cells && !mixes_;
    FoundByTarget found;
    const std::int64_t unknown = sampling::sample(
        own, *targets_, input,
        [&](std::int64_t target, const Rank& rank, std::span<const double> v) { keep_least(found, target, rank, v); });
    ByteWriter out;
    out.put(mixed(input));
    out.put(unknown);
    for (const auto& [target, one] : found) {
      out.put(target);
      out.put(one.rank);
      out.put_all(std::span(one.values));
    }
    return out.take();
  }

  Bytes combine(const CombineInput& input) override {
    if (mixes_ && input.pass == 0)
      return sampling::joined_levels(input.partials, targets_->count(), input.communicator);
    ByteWriter mine;
    std::vector<Bytes> sums;
    for (const Bytes& partial : input.partials) {
      ByteReader(partial).get(sums.emplace_back());
      mine.put(partial);
    }
    const auto row = rows_of(std::vector<BytesView>(sums.begin(), sums.end()), one_row(), input.communicator);
    const std::vector<Bytes> all = input.communicator.gather(mine.bytes(), 0);
    if (input.communicator.rank() != 0) return {};
    FoundByTarget found;
    std::int64_t unknown = 0;
    for (const Bytes& server : all) {
      ByteReader partials(server);
      Bytes partial;
      while (!partials.at_end()) {
        partials.get(partial);
        unknown += take(partial, found);
      }
    }
    if (mixes_) mix(input.metadata, row[0], found);
    // If levels are chosen, places outside them are meant to have no value.
    const std::int64_t outside = targets_->count() - static_cast<std::int64_t>(found.size());
    lost_.tell(query_.choice.all() ? outside : 0, targets_->count(), unknown);
    input.results.add(file_, table(found));
    return {};
  }

 private:
  /// Shape with all places in one row, which the first server owns.
  [[nodiscard]] GridShape one_row() const { return GridShape({1, targets_->count()}); }

  /// Contributions of cells to places on other levels, if there are any.
  [[nodiscard]] Bytes mixed(const LocalInput& input) const {
    if (!mixes_) return {};
    const GridShape row = one_row();
    GridSums sums(row, sampling::mixed_count(query_, input.metadata) + 1);
    sampling::add_mixed(query_, *targets_, input, input.feedback, sums);
    return sums.take();
  }
  void mix(const Metadata& metadata, const RowParts& row, FoundByTarget& found) const {
    for_each_sum(row, sampling::mixed_count(query_, metadata) + 1, [&](Index target, std::span<const ExactSum> sums) {
      const auto at = found.find(target);
      if (at != found.end()) sampling::take_mixed(query_, metadata, sums, at->second.values);
    });
  }

  std::int64_t take(const Bytes& partial, FoundByTarget& found) const {
    ByteReader in(partial);
    Bytes sums;
    in.get(sums);
    const auto unknown = in.get<std::int64_t>();
    std::vector<double> values;
    while (!in.at_end()) {
      const auto target = in.get<std::int64_t>();
      const auto rank = in.get<Rank>();
      in.get_all(values, values_);
      keep_least(found, target, rank, values);
    }
    return unknown;
  }

  /// Variables may have the names of the columns with positions.
  void add_column(std::string name) {
    const auto taken = [&] {
      const bool own = name == "probe" || name == "sample" || name == "x" || name == "y" || name == "z";
      return own || std::find(columns_.begin(), columns_.end(), name) != columns_.end();
    };
    while (taken()) name += "_";
    columns_.push_back(std::move(name));
  }

  [[nodiscard]] Table table(const FoundByTarget& found) const {
    const std::size_t rows = places_.at.size();
    std::vector<Column> columns{{"probe", places_.names}, {"sample", places_.samples}};
    for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions_); ++a) {
      std::vector<double> where;
      for (const Place& place : places_.at) where.push_back(place[a]);
      columns.push_back({std::string(1, "xyz"[a]), std::move(where)});
    }
    for (std::size_t v = 0; v < values_; ++v) {
      std::vector<double> values(rows, std::numeric_limits<double>::quiet_NaN());
      for (const auto& [target, one] : found) values[static_cast<std::size_t>(target)] = one.values[v];
      columns.push_back({columns_[v], std::move(values)});
    }
    return Table(std::move(columns));
  }

  sampling::Query query_;
  ProbePlaces places_;
  std::string file_;
  sampling::UnsampledPoints lost_;
  int dimensions_ = 3;
  std::shared_ptr<const sampling::SamplePoints> targets_;
  Selection selection_;
  std::size_t values_ = 0;
  bool mixes_ = false;
  std::vector<std::string> columns_;
};

}  // namespace

AnalysisKind probe_kind() {
  return {
      .name = "probe",
      .text =
          "Values of variables at points and along lines, over time: a table with a row for each place and iteration "
          "and the columns probe (its name), sample (the number on its line), the place's x, y and z, and one for "
          "each component of the variables. Between nodes values are interpolated linearly, in the cell's own shape. "
          "On refinement levels the finest cell at a place counts. A place on the border of cells belongs to the "
          "upper cell on uniform and rectilinear meshes, to the first cell on curvilinear ones, and on unstructured "
          "ones to the cell with the lowest `cell_ids`, or without them the lowest block id. A place outside all "
          "cells has NaN, and one warning is given. Only blocks that contain places move.",
      .options = probe_options().declarations(),
      .create = [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        const ProbeQuery query = probe_options().read(settings, metadata);
        ProbePlaces places = read_probe_places(settings, query, sampling::mesh_of(query, metadata).dimensions);
        return std::make_unique<Probe>(query, std::move(places), metadata);
      }};
}

}  // namespace sidestream
