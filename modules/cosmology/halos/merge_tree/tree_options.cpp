#include "cosmology/halos/merge_tree/tree_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/data/file_pattern.hpp"

namespace sidestream::halos {
namespace {

Index3 read_cell(const Settings& settings, const char* option, int dimensions, const CellAt& cell_at) {
  const std::vector<double> place = settings.reals(option);
  if (place.size() != static_cast<std::size_t>(dimensions)) {
    settings.fail(option, fmt::format("found {} numbers, expected {}, one for each dimension of the mesh", place.size(),
                                      dimensions));
  }
  if (const std::optional<Index3> cell = cell_at(place)) return *cell;
  settings.fail(option,
                fmt::format("[{}] is outside of the mesh; name a place in one of its cells", fmt::join(place, ", ")));
}

OptionTable<Question> question_options(int dimensions, const CellAt& cell_at) {
  const auto place = [&](const char* name, const char* text, Index3 Question::*cell) {
    const auto read = [=](const Settings& settings, const Metadata&, const Question&) {
      return read_cell(settings, name, dimensions, cell_at);
    };
    return options_read_by(read, {place_option(name, text)}, cell);
  };
  return {place("from", "A place in a cell of the mesh.", &Question::from),
          place("to", "Another place.", &Question::to),
          option("above", &Question::above, "The level.", {.required = true})};
}

OptionTable<KeptCells> cells_options() {
  return {file_option(&KeptCells::file, "merge-tree-cells-{index:05}.h5", "The table, in the order of linear indices.",
                      {".csv"})
              .then([](const Settings& settings, const std::string& name, const Metadata&, const KeptCells& cells) {
                if (cells.file.ends_with(".csv") || names_iteration(cells.file)) return;
                settings.fail(name, fmt::format("found '{}', one file for all iterations, expected a name with "
                                                "{{index}}, {{cycle}} or {{time}}, or the ending .csv",
                                                cells.file));
              }),
          option("above", &KeptCells::above, "Keeps cells with values >= this.", {.required = true})
              .then([](const Settings& settings, const std::string& name, const Metadata&, const KeptCells& cells) {
                if (std::isfinite(cells.above)) return;
                settings.fail(name, fmt::format("found {}, expected a finite number", cells.above));
              }),
          option<OptionType::choice>(
              "units", &KeptCells::of_mean,
              "Units of `above`: `absolute`, those of the variable, or `mean`, the mean of all finite values.",
              {.standard = "absolute", .choices = {{"absolute", false}, {"mean", true}}})};
}

void check_files(const OptionTable<TreeQuery>& options, const Settings& settings, const Metadata&, TreeQuery& query) {
  if (options.given(settings, &TreeQuery::halos_file) && query.thresholds.empty()) {
    options.fail(settings, &TreeQuery::halos_file,
                 "found 'halos_file' without `halos`, expected both; add thresholds or remove this");
  }
  if (options.given(settings, &TreeQuery::answers_file) && query.questions.empty()) {
    options.fail(settings, &TreeQuery::answers_file,
                 "found 'connected_file' without `connected`, expected both; add places or remove this");
  }
}

}  // namespace

CellAt cell_at(const Field& field) {
  return [field](const std::vector<double>& place) -> std::optional<Index3> {
    Index3 cell = field.lattice.origin;
    for (std::size_t a = 0; a < place.size(); ++a) {
      const double index = std::floor((place[a] - field.origin[a]) / field.spacing[a]);
      const double low = static_cast<double>(field.lattice.origin[a]);
      if (!(index >= low && index < low + static_cast<double>(field.lattice.size[a]))) return std::nullopt;
      cell[a] = static_cast<Index>(index);
    }
    return cell;
  };
}

CellAt cell_at(const AmrGrid& grid) {
  return [&grid](const std::vector<double>& place) -> std::optional<Index3> {
    std::array<double, 3> x{};
    std::copy(place.begin(), place.end(), x.begin());
    const auto cell = grid.cell_at(static_cast<std::int32_t>(grid.levels()) - 1, x);
    return cell ? std::optional(cell->index) : std::nullopt;
  };
}

OptionTable<TreeQuery> tree_options(int dimensions, const CellAt& cell_at) {
  using Query = TreeQuery;
  return OptionTable<Query>{
      options_read_elsewhere<Query>(field_options()),
      file_option(&Query::file, "merge-tree-{index:05}.csv",
                  "The tree: a row for each maximum, in the order of their linear index. docs/cosmology.md."),
      pieces_option(&Query::pieces),
      option("minimum_persistence", &Query::least,
             "Leaves maxima with a smaller persistence (height above the saddle at which they meet a higher maximum) "
             "out of the table, which simplifies the tree.",
             {.standard = 0, .minimum = 0}),
      option("halos", &Query::thresholds, "Halos for any number of thresholds, all found with the same tree.",
             {.options = threshold_options()}),
      option<OptionType::file>("halos_file", &Query::halos_file, "The halos of all `halos`, numbered as `query`.",
                               {.standard = "merge-tree-halos-{index:05}.csv", .choices = {".csv"}, .with = "halos"}),
      option("cells", &Query::cells,
             "Keeps cells with the tree, so that queries about places are possible after the run: the linear index "
             "and value of each cell, and the maximum of its component at its own level.",
             {.options = cells_options()}),
      option("connected", &Query::questions,
             "Tests whether two places are connected above a level: a path leads from one to the other through cells "
             ">= `above`.",
             {.options = question_options(dimensions, cell_at)}),
      option<OptionType::file>("connected_file", &Query::answers_file,
                               "The answers: `connected` is 1 or 0, `highest` the highest level at which they hang "
                               "together, and `saddle_index` the cell that decides it.",
                               {.standard = "connected-{index:05}.csv", .choices = {".csv"}, .with = "connected"})}
      .then(check_files);
}

}  // namespace sidestream::halos
