#include "cosmology/halos/merge_tree/tree_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream::halos {
namespace {

/// The cell that contains a position.
Index3 cell_at(const Settings& settings, const char* option, const Field& field) {
  const std::vector<double> place = settings.reals(option);
  const auto expected = static_cast<std::size_t>(field.lattice.dimensions);
  if (place.size() != expected) {
    settings.fail(option, fmt::format("found {} numbers, expected {}, one for each dimension of the mesh", place.size(),
                                      expected));
  }
  Index3 cell = field.lattice.origin;
  for (std::size_t a = 0; a < expected; ++a) {
    const double index = std::floor((place[a] - field.origin[a]) / field.spacing[a]);
    const double low = static_cast<double>(field.lattice.origin[a]);
    if (!(index >= low && index < low + static_cast<double>(field.lattice.size[a]))) {
      settings.fail(option, fmt::format("{} is outside of the mesh along {}; name a place in one of its cells",
                                        place[a], "xyz"[a]));
    }
    cell[a] = static_cast<Index>(index);
  }
  return cell;
}

OptionTable<Question> question_options(const Field& field) {
  const auto place = [&](const char* name, const char* text, Index3 Question::*cell) {
    const auto read = [=](const Settings& settings, const Metadata&, const Question&) {
      return cell_at(settings, name, field);
    };
    return options_read_by(read, {place_option(name, text)}, cell);
  };
  return {place("from", "A place in a cell of the mesh.", &Question::from),
          place("to", "Another place.", &Question::to),
          option("above", &Question::above, "The level.", {.required = true})};
}

OptionTable<KeptCells> cells_options() {
  return {file_option(&KeptCells::file, "merge-tree-cells-{index:05}.h5", "The table, in the order of linear indices.",
                      {".csv"}),
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

OptionTable<TreeQuery> tree_options(const Field& field) {
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
             {.options = question_options(field)}),
      option<OptionType::file>("connected_file", &Query::answers_file,
                               "The answers: `connected` is 1 or 0, `highest` the highest level at which they hang "
                               "together, and `saddle_index` the cell that decides it.",
                               {.standard = "connected-{index:05}.csv", .choices = {".csv"}, .with = "connected"})}
      .then(check_files);
}

TreeQuery read_tree(const Settings& settings, const Metadata& metadata) {
  Field field = read_field(settings, metadata, "`merge_tree`");
  TreeQuery query = tree_options(field).read(settings, metadata);
  query.field = std::move(field);
  return query;
}

}  // namespace sidestream::halos
