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

/// The option `connected`.
Option connected_option() {
  Option connected{
      .name = "connected",
      .type = OptionType::map,
      .list = true,
      .text =
          "Tests whether two places are connected above a level: a path leads from one to the other through cells >= "
          "`above`."};
  connected.options = {place_option("from", "A place in a cell of the mesh."),
                       place_option("to", "Another place."),
                       {.name = "above", .type = OptionType::real, .required = true, .text = "The level."}};
  return connected;
}

/// The option `cells`.
Option cells_option() {
  Option cells_file = file_option("merge-tree-cells-{index:05}.h5", "The table, in the order of linear indices.");
  cells_file.choices.push_back(".csv");
  Option cells{.name = "cells",
               .type = OptionType::map,
               .text =
                   "Keeps cells with the tree, so that queries about places are possible after the run: the linear "
                   "index and value of each cell, and the maximum of its component at its own level."};
  cells.options = {
      cells_file,
      {.name = "above", .type = OptionType::real, .required = true, .text = "Keeps cells with values >= this."},
      {.name = "units",
       .type = OptionType::choice,
       .default_value = "absolute",
       .text = "Units of `above`: `absolute`, those of the variable, or `mean`, the mean of all finite values.",
       .choices = {"absolute", "mean"}}};
  return cells;
}

}  // namespace

TreeQuery read_tree(const Settings& settings, const Metadata& metadata) {
  TreeQuery query{read_field(settings, metadata, "`merge_tree`"),
                  settings.text("file"),
                  read_pieces(settings),
                  settings.real("minimum_persistence"),
                  {},
                  settings.text("halos_file"),
                  {},
                  settings.text("connected_file"),
                  {}};
  if (settings.has("cells")) {
    const Settings cells = settings.map("cells");
    query.cells = {cells.text("file"), cells.real("above"), cells.text("units") == "mean"};
    if (!std::isfinite(query.cells->above)) {
      cells.fail("above", fmt::format("found {}, expected a finite number", query.cells->above));
    }
  }
  for (const Settings& one : settings.maps("halos")) query.thresholds.push_back(threshold_options().read(one));
  for (const Settings& one : settings.maps("connected")) {
    query.questions.push_back({cell_at(one, "from", query.field), cell_at(one, "to", query.field), one.real("above")});
  }
  if (settings.given("halos_file") && query.thresholds.empty()) {
    settings.fail("halos_file", "found 'halos_file' without `halos`, expected both; add thresholds or remove this");
  }
  if (settings.given("connected_file") && query.questions.empty()) {
    settings.fail("connected_file",
                  "found 'connected_file' without `connected`, expected both; add places or remove this");
  }
  return query;
}

std::vector<Option> tree_options() {
  std::vector<Option> all = field_options();
  all.push_back(
      file_option("merge-tree-{index:05}.csv",
                  "The tree: a row for each maximum, in the order of their linear index. docs/cosmology.md."));
  all.push_back(pieces_option());
  all.push_back({.name = "minimum_persistence",
                 .type = OptionType::real,
                 .default_value = "0",
                 .text =
                     "Leaves maxima with a smaller persistence (height above the saddle at which they meet a higher "
                     "maximum) out of the table, which simplifies the tree.",
                 .minimum = 0});
  Option halos{.name = "halos",
               .type = OptionType::map,
               .list = true,
               .text = "Halos for any number of thresholds, all found with the same tree."};
  halos.options = threshold_options().declarations();
  all.push_back(halos);
  Option halos_file = file_option("merge-tree-halos-{index:05}.csv", "The halos of all `halos`, numbered as `query`.");
  halos_file.name = "halos_file";
  halos_file.with = "halos";
  all.push_back(halos_file);
  all.push_back(cells_option());
  all.push_back(connected_option());
  Option answers = file_option("connected-{index:05}.csv",
                               "The answers: `connected` is 1 or 0, `highest` the highest level at which they hang "
                               "together, and `saddle_index` the cell that decides it.");
  answers.name = "connected_file";
  answers.with = "connected";
  all.push_back(answers);
  return all;
}

}  // namespace sidestream::halos
