// Options of stream lines: the field, seeds, steps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "visualisation/lines/lines.hpp"

namespace sidestream::streamlines {
namespace {

constexpr std::int64_t most_seeds = 1 << 20, most_steps = 1'000'000;

enum class Direction { both, forwards, backwards };

struct PointSeed {
  std::vector<double> at;
};
struct LineSeeds {
  std::vector<double> from, to;
  std::int64_t samples = 0;
};
struct PlaneSeeds {
  std::vector<double> corner, first, second;
  std::array<std::int64_t, 2> samples{};
};

struct LineOptions {
  Variable variable;
  std::vector<PointSeed> points;
  std::vector<LineSeeds> lines;
  std::vector<PlaneSeeds> planes;
  Direction direction = Direction::both;
  std::optional<double> step, length;
  std::int64_t steps = 0;
};

const OptionTable<PointSeed>& point_options() {
  static const OptionTable<PointSeed> table{
      place_option("at", &PointSeed::at, "The position: a number for each dimension of the mesh.")};
  return table;
}

const OptionTable<LineSeeds>& row_options() {
  static const OptionTable<LineSeeds> table{
      place_option("from", &LineSeeds::from, "The first end."), place_option("to", &LineSeeds::to, "The second end."),
      option("samples", &LineSeeds::samples, "Number of seeds, at equal distances, including both ends.",
             {.standard = 10, .minimum = 2, .maximum = most_seeds})};
  return table;
}

const OptionTable<PlaneSeeds>& plane_options() {
  static const OptionTable<PlaneSeeds> table{
      place_option("corner", &PlaneSeeds::corner, "A corner of the rectangle or parallelogram."),
      place_option("first", &PlaneSeeds::first, "The corner at the other end of the first edge."),
      place_option("second", &PlaneSeeds::second, "The corner at the other end of the second edge."),
      option("samples", &PlaneSeeds::samples, "Number of seeds along each of the edges, including both ends.",
             {.standard = "[10, 10]", .minimum = 2, .maximum = most_seeds})};
  return table;
}

const OptionTable<LineOptions>& table_of_lines() {
  static const OptionTable<LineOptions> table{
      variable_option(&LineOptions::variable,
                      "The vector field, with a component for each dimension of its mesh. That has cells: of all kinds "
                      "but `points`, and curvilinear ones without refinement levels."),
      option("point", &LineOptions::points, "Seeds: one such map, or a list of them.", {.options = point_options()}),
      option("line", &LineOptions::lines, "Rows of seeds: one such map, or a list of them.",
             {.options = row_options()}),
      option("plane", &LineOptions::planes, "Planes of seeds: one such map, or a list of them.",
             {.options = plane_options()}),
      option("direction", &LineOptions::direction, "The directions in which lines run from their seeds.",
             {.standard = "both",
              .choices = {{"both", Direction::both},
                          {"forwards", Direction::forwards},
                          {"backwards", Direction::backwards}}}),
      option("step", &LineOptions::step,
             "Arc length of a step, in the mesh's units. Default: half of the smallest width of a cell; octrees, "
             "curvilinear and unstructured meshes need it.",
             {.range_text = "above 0"}),
      option("length", &LineOptions::length, "Arc length of lines at most, from the seed in each direction.",
             {.range_text = "above 0"}),
      option("steps", &LineOptions::steps, "Number of steps at most, from the seed in each direction.",
             {.standard = 2000, .minimum = 1, .maximum = most_steps})};
  return table;
}

class SeedReader {
 public:
  SeedReader(const Settings& settings, const LineOptions& options, int dimensions)
      : settings_(settings), options_(options), dimensions_(dimensions) {}

  [[nodiscard]] std::vector<Place> read() {
    const OptionTable<LineOptions>& table = table_of_lines();
    for_each(&LineOptions::points,
             [&](const Settings& map, const PointSeed&) { add(sampling::read_place(map, "at", dimensions_)); });
    for_each(&LineOptions::lines, [&](const Settings& map, const LineSeeds& row) {
      const Place from = sampling::read_place(map, "from", dimensions_),
                  to = sampling::read_place(map, "to", dimensions_);
      for (std::int64_t n = 0; n < row.samples; ++n) add(sampling::place_between(from, to, n, row.samples));
    });
    for_each(&LineOptions::planes, [&](const Settings& map, const PlaneSeeds& plane) { add_plane(map, plane); });
    if (seeds_.empty()) {
      table.fail(settings_, &LineOptions::points,
                 "found no seeds, expected places through which lines run; give a 'point', a 'line' or a 'plane'");
    }
    return std::move(seeds_);
  }

 private:
  template <class Seed, class F>
  void for_each(std::vector<Seed> LineOptions::*seeds, F&& f) {
    const std::vector<Settings> maps = settings_.maps(table_of_lines().name(seeds));
    for (std::size_t n = 0; n < maps.size(); ++n) f(maps[n], (options_.*seeds)[n]);
  }

  void add_plane(const Settings& map, const PlaneSeeds& plane) {
    const Place corner = sampling::read_place(map, "corner", dimensions_);
    const Place first = sampling::read_place(map, "first", dimensions_);
    const Place second = sampling::read_place(map, "second", dimensions_);
    Place opposite{};
    for (std::size_t a = 0; a < 3; ++a) opposite[a] = first[a] + (second[a] - corner[a]);
    const auto [across, along] = plane.samples;
    if (across * along > most_seeds) fail_many();
    for (std::int64_t j = 0; j < along; ++j) {
      const Place from = sampling::place_between(corner, second, j, along),
                  to = sampling::place_between(first, opposite, j, along);
      for (std::int64_t i = 0; i < across; ++i) add(sampling::place_between(from, to, i, across));
    }
  }

  void add(const Place& seed) {
    if (static_cast<std::int64_t>(seeds_.size()) == most_seeds) fail_many();
    seeds_.push_back(seed);
  }
  [[noreturn]] void fail_many() const {
    settings_.fail(table_of_lines().name(&LineOptions::lines),
                   fmt::format("found more than {} seeds, expected at most so many; leave some out", most_seeds));
  }

  const Settings& settings_;
  const LineOptions& options_;
  int dimensions_;
  std::vector<Place> seeds_;
};

/// Half of the smallest width of a cell of the finest level; 0 if it is not known before the run.
double default_step(const Mesh& mesh) {
  if (mesh.axes() == nullptr) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (int a = 0; a < mesh.dimensions; ++a) {
    const auto n = static_cast<std::size_t>(a);
    Index finer = 1;
    for (const Index3& ratio : mesh.refinement) finer *= ratio[n];
    const Index last =
        mesh.kind() == MeshKind::uniform ? std::min(mesh.cells.lo[n] + 1, mesh.cells.hi[n]) : mesh.cells.hi[n];
    for (Index i = mesh.cells.lo[n]; i < last; ++i) {
      const double width = std::abs(mesh.axes()->node(a, i + 1) - mesh.axes()->node(a, i));
      least = std::min(least, width / static_cast<double>(finer));
    }
  }
  return 0.5 * least;
}

void check_field(const Settings& settings, const Variable& variable, const Mesh& mesh) {
  const std::string& name = table_of_lines().name(&LineOptions::variable);
  const bool curvilinear = mesh.kind() == MeshKind::curvilinear;
  const bool possible =
      mesh.axes() != nullptr || mesh.kind() == MeshKind::octree || mesh.kind() == MeshKind::unstructured || curvilinear;
  if (!possible) {
    settings.fail(name, fmt::format("'{}' lies on mesh '{}', which is {}; stream lines need a mesh with cells; put the "
                                    "vectors on the cells of another mesh",
                                    variable.name, mesh.name, mesh.geometry ? mesh.geometry->kind() : "none"));
  }
  if (curvilinear && !mesh.refinement.empty()) {
    settings.fail(name,
                  fmt::format("'{}' lies on mesh '{}', which is curvilinear with refinement levels, between which "
                              "there may be gaps; `resample` it",
                              variable.name, mesh.name));
  }
  if (variable.components != mesh.dimensions) {
    settings.fail(
        name, fmt::format("found '{}' with {}, expected a vector with a component for each of the {} "
                          "dimensions of mesh '{}'; take another variable, or derive one",
                          variable.name,
                          variable.components == 1 ? "1 component" : fmt::format("{} components", variable.components),
                          mesh.dimensions, mesh.name));
  }
}

}  // namespace

std::vector<Option> line_options() { return table_of_lines().declarations(); }

Query read_lines(const Settings& settings, const Metadata& metadata, const std::vector<std::int32_t>& carried,
                 const std::string& name) {
  const OptionTable<LineOptions>& table = table_of_lines();
  const LineOptions options = table.read(settings, metadata);
  const Variable& variable = options.variable;
  const Mesh& mesh = metadata.mesh_of(variable);
  check_field(settings, variable, mesh);
  Query query;
  sampling::check_variable(settings, table.name(&LineOptions::variable), variable, metadata);
  query.values.variables = {variable.id};
  for (const std::int32_t field : carried) {
    if (field == variable.id) continue;
    sampling::check_variable(settings, name, metadata.variables.at(static_cast<std::size_t>(field)), metadata);
    query.values.variables.push_back(field);
  }
  query.values.linear_cells = mesh.axes() != nullptr;
  // All levels, said in a way in which cells that a finer level covers count nowhere.
  query.values.choice.finest = std::numeric_limits<std::int32_t>::max() - 1;
  query.dimensions = mesh.dimensions;
  if (mesh.dimensions < 3 && mesh.axes() != nullptr) query.flat = mesh.axes()->node(2, mesh.cells.lo[2]);
  query.seeds = SeedReader(settings, options, mesh.dimensions).read();
  query.step = options.step.value_or(default_step(mesh));
  if (!(query.step > 0) || !std::isfinite(query.step)) {
    table.fail(settings, &LineOptions::step,
               options.step
                   ? fmt::format("found {} for 'step', expected a finite number above 0; change it", query.step)
                   : fmt::format("found no 'step' for mesh '{}', whose smallest cells are not known before the "
                                 "run; write one",
                                 mesh.name));
  }
  query.length = options.length.value_or(query.length);
  if (!(query.length > 0)) {
    table.fail(settings, &LineOptions::length,
               fmt::format("found {} for 'length', expected a number above 0; change it", query.length));
  }
  query.steps = options.steps;
  query.forwards = options.direction != Direction::backwards;
  query.backwards = options.direction != Direction::forwards;
  return query;
}

Selection selection_of(const Query& query, const Metadata& metadata) {
  Selection selection;
  for (const std::int32_t id : query.values.variables) {
    const Mesh& mesh = metadata.mesh_of(metadata.variables.at(static_cast<std::size_t>(id)));
    selection.variables.push_back({id, mesh.is_list() ? 0 : 1});  // octrees need no layers around blocks
    selection.variables.back().wrap = false;
    selection.variables.back().covered = false;
  }
  return selection;
}

std::size_t value_of(const Query& query, const Metadata& metadata, std::int32_t variable, int component) {
  std::size_t first = 0;
  for (const std::int32_t id : query.values.variables) {
    if (id == variable) return first + static_cast<std::size_t>(component);
    first += static_cast<std::size_t>(metadata.variables.at(static_cast<std::size_t>(id)).components);
  }
  fail(Code::internal, "lines do not carry variable {}", variable);
}

}  // namespace sidestream::streamlines
