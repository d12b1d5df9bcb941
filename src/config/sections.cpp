#include "config/sections.hpp"

#include "config/config.hpp"
#include "config/expressions/derived_section.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

Section meshes_section() {
  const Option axis{.name = "", .type = OptionType::real, .list = true, .least_entries = 2};
  const auto along = [&](const char* name, bool required) {
    Option option = axis;
    option.name = name;
    option.required = required;
    option.text = fmt::format("The {} coordinates of the nodes, increasing; one more than cells.", name);
    option.range_text = "increasing";
    return option;
  };
  std::vector<Option> options{
      {.name = "type",
       .type = OptionType::choice,
       .default_value = "uniform",
       .text = "`uniform`: equal spacing. `rectilinear`: the coordinates along each axis are listed. `curvilinear`: "
               "each node has coordinates of its own. `unstructured`: lists of points and of cells of any type. "
               "`points`: only points. The positions of the last three are in variables, which the options below name. "
               "`octree`: trees over a box of root cells, one for each block.",
       .choices = {"uniform", "rectilinear", "curvilinear", "unstructured", "points", "octree"}},
      {.name = "size",
       .type = OptionType::integer,
       .list = true,
       .text = "Number of cells along x, y and z of a uniform or curvilinear mesh, of root cells of an octree; the "
               "number of entries is the number of dimensions.",
       .minimum = 1,
       .least_entries = 1,
       .most_entries = 3},
      {.name = "spacing",
       .type = OptionType::real,
       .list = true,
       .default_value = "1",
       .text =
           "Size of a cell of a uniform mesh, of a root cell of an octree, along each axis; one number holds for all "
           "axes.",
       .least_entries = 1,
       .most_entries = 3,
       .range_text = "above 0"},
      {.name = "origin",
       .type = OptionType::real,
       .list = true,
       .default_value = "0",
       .text = "Position of the node (0, 0, 0) of a uniform mesh or an octree; one number holds for all axes.",
       .least_entries = 1,
       .most_entries = 3},
      {.name = "coordinates",
       .type = OptionType::map,
       .text = "Positions of the nodes of a rectilinear mesh; the number of axes is the number of dimensions. For "
               "curvilinear and unstructured meshes and points: the name of the variable with the position of each "
               "point, a component for each dimension.",
       .options = {along("x", true), along("y", false), along("z", false)}},
      {.name = "periodic",
       .type = OptionType::choice,
       .list = true,
       .text = "The axes along which the mesh is periodic.",
       .choices = {"x", "y", "z"},
       .most_entries = 3},
      {.name = "refinement",
       .type = OptionType::text,
       .list = true,
       .text = "For meshes with refinement levels: the number of cells of the next finer level along a cell. One "
               "entry for each step from a level to the next: `2`, or `2x2x1` if axes differ.",
       .most_entries = 30,
       .range_text = "1 to 1024, or one for each axis"},
      {.name = "fixed",
       .type = OptionType::boolean,
       .default_value = "false",
       .text = "`true`: blocks never change after the start."},
      {.name = "dimensions",
       .type = OptionType::integer,
       .text = "Number of dimensions of the space of an unstructured mesh or points; 3 if left out.",
       .minimum = 1,
       .maximum = 3},
  };
  const auto array = [&](Role role, const char* text) {
    options.push_back({.name = std::string(name_of(role)), .type = OptionType::text, .text = text});
  };
  array(Role::connectivity, "Variable of an unstructured mesh: the points of its cells, one cell after the other.");
  array(Role::offsets, "Variable of an unstructured mesh: the end of each cell's points in the connectivity.");
  array(Role::types, "Variable of an unstructured mesh: the type of each cell, with VTK's numbers.");
  array(Role::faces, "Variable of an unstructured mesh with polyhedra: their faces, in the format of VTK's files.");
  array(Role::face_offsets, "Variable of an unstructured mesh with polyhedra: the end of each cell's faces, or -1.");
  array(Role::point_ids, "Variable: for each point a number that is the same wherever the point occurs.");
  array(Role::cell_ids, "Variable: for each cell a number that is the same wherever the cell occurs.");
  array(Role::point_ghosts, "Variable: for each point nonzero if it counts in another block.");
  array(Role::cell_ghosts, "Variable: for each cell nonzero if it counts in another block.");
  array(Role::refined, "Variable of an octree: for each cell nonzero if it is refined, and its children follow.");
  array(Role::owned, "Variable of an octree: for each cell 0 if it counts in another block.");
  return {"meshes", SectionForm::named,
          "The meshes the simulation computes on, by name. A mesh may be declared here, by the program's calls, or by "
          "both if they agree.",
          "meshes:\n  grid: {type: uniform, size: [$nx, $ny, $nz], spacing: [$h, $h, $h]}\n"
          "  column: {type: rectilinear, coordinates: {x: [0, 1, 2, 4], y: [0, 1], z: [0, 0.1, 0.3, 0.7]}}",
          options};
}

/// Options on relations between values in trees, which codecs of databases may use.
std::vector<Option> relation_options() {
  return {
      {.name = "parent",
       .type = OptionType::text,
       .text =
           "In cells of an octree: how a parent's value follows from its children's. `mean`; `sum`, for amounts in a cell; "
           "`mean of` a sum of products, such as `mean of density * velocity`. Codecs of databases predict with it; where "
           "it does not hold nothing is lost."},
      {.name = "equals",
       .type = OptionType::text,
       .text = "In cells of an octree: the value as a sum of products of others in the same cell, such as `pressure / "
               "0.4 + 0.5 * density * velocity.x^2`. For the same purpose."},
      {.name = "face",
       .type = OptionType::choice,
       .text = "In cells of an octree: the face of the cell over which the value is the mean of a vector's component "
               "along that axis. For the same purpose.",
       .choices = {"low-x", "high-x", "low-y", "high-y", "low-z", "high-z"}},
      {.name = "opposite",
       .type = OptionType::text,
       .text = "With `face`: the variable of the same component on the opposite face."},
      {.name = "divergence_free",
       .type = OptionType::text,
       .list = true,
       .text =
           "With `face`: the variables of the other components, on the low and high face of each other axis, if the "
           "vector has no divergence. Cells are cubes.",
       .most_entries = 4},
  };
}

Section variables_section() {
  std::vector<std::string> types;
  for (int n = 0; n < type_count; ++n) types.emplace_back(name_of(static_cast<Type>(n)));
  std::vector<Option> options{
      {.name = "mesh", .type = OptionType::mesh, .required = true, .text = "The mesh whose points have values."},
      {.name = "type",
       .type = OptionType::choice,
       .default_value = "float64",
       .text = "Type of one element of the program's array.",
       .choices = types},
      {.name = "centering",
       .type = OptionType::choice,
       .default_value = "cell",
       .text =
           "The positions of values: in `cell`s, at each `node` (one more along each axis), at the faces normal to "
           "an axis (one more along it) or at the edges along an axis (one more along the others). Unused axes have "
           "no further points.",
       .choices = {"cell", "node", "x-face", "y-face", "z-face", "x-edge", "y-edge", "z-edge"}},
      {.name = "components",
       .type = OptionType::integer,
       .default_value = "1",
       .text = "Values at each point, next to each other in memory.",
       .minimum = 1,
       .maximum = 1024},
      {.name = "order",
       .type = OptionType::choice,
       .default_value = "column",
       .text = "The fastest index in memory. `column`: i, as in Fortran a(i,j,k) and C a[k][j][i]. `row`: k, as in "
               "C a[i][j][k].",
       .choices = {"column", "row"}},
      {.name = "unit", .type = OptionType::text, .text = "Unit for labels and files."},
      {.name = "label", .type = OptionType::text, .text = "Name in captions; if left out the variable's name."},
      {.name = "group", .type = OptionType::text, .text = "Folder of the variable in files that have folders."},
      {.name = "time_varying",
       .type = OptionType::boolean,
       .default_value = "true",
       .text = "`false`: published once and kept until it is published again."},
      {.name = "ghosts",
       .type = OptionType::choice,
       .default_value = "untrusted",
       .text =
           "The content of published arrays outside their blocks. `filled`: the value at a point that another block "
           "owns is bit by bit that block's, also at periodic images and at shared nodes; halos for analyses are "
           "then read there. `untrusted`: halos come from the blocks that own the points.",
       .choices = {"untrusted", "filled"}},
  };
  for (Option& option : relation_options()) options.push_back(std::move(option));
  return {"variables", SectionForm::named,
          "The variables that the simulation publishes, by name. A variable may be declared here, by the program's "
          "calls, or by both if they agree.",
          "variables:\n  temperature: {mesh: grid, type: float64, centering: cell, unit: K}", options};
}

Section output_section() {
  Option output{.name = "output", .type = OptionType::map, .default_value = "{}"};
  output.text = "Where results go.";
  output.options = {
      {.name = "directory",
       .type = OptionType::text,
       .default_value = ".",
       .text = "Folder for everything this run writes; created if missing.",
       .range_text = path_range},
      {.name = "existing",
       .type = OptionType::choice,
       .default_value = "refuse",
       .text =
           "The reaction to an earlier run in the folder. `refuse`: stop with an error. `replace`: remove its files "
           "whose names this run uses, with all iterations and pieces, and overwrite the others; databases keep "
           "their content. `resume`: continue its tables and series from this run's first cycle.",
       .choices = {"refuse", "replace", "resume"}},
      {.name = "timings",
       .type = OptionType::boolean,
       .default_value = "true",
       .text = "Write `timings.csv`: the times of each rank in each iteration."},
      {.name = "fsync",
       .type = OptionType::boolean,
       .default_value = "true",
       .text = "Wait for the disk before a file of results gets its name. `true`: a file with its name is complete "
               "after a crash of the program and of the machine, as far as the disk keeps its promises. `false`: it is "
               "complete after a crash of the program; a crash of the machine may truncate files that were written "
               "shortly before. See [formats](formats.md#what-is-promised)."},
  };
  return {
      "output", SectionForm::option, "Where results go.", "output: {directory: results, existing: resume}", {output}};
}

Section parameters_section() {
  return {"parameters",
          SectionForm::option,
          "Values of $names in the file, for those the program does not set; a value that the program sets wins. "
          "Numbers in the file may be expressions of $names with + - * / and parentheses.",
          "parameters: {nx: 128, h: 0.01}",
          {}};
}

Section live_section() {
  const Option live{
      .name = "live",
      .type = OptionType::map,
      .default_value = "{}",
      .text = "Requests of people to the run while it goes on.",
      .options = {
          {.name = "requests",
           .type = OptionType::boolean,
           .default_value = "false",
           .text = "`true`: a person who can write into the output directory may ask for analyses that are not in "
                   "this file, once or from now on (`sidestream ask`, `sidestream watch`)."},
          {.name = "budget",
           .type = OptionType::real,
           .default_value = "2",
           .text = "Seconds that such analyses may take in one iteration. When they are used up, the next one "
                   "waits for another iteration. One that goes on and takes longer by itself is ended.",
           .minimum = 0,
           .range_text = "above 0"},
          {.name = "hold",
           .type = OptionType::variable,
           .list = true,
           .text = "Variables whose values of the last iteration servers keep, in memory of their own, so that a "
                   "request need not wait for the next one. No effect with `inline` and `job`."}}};
  return {"live",
          SectionForm::option,
          "Requests of people to a running session. See [requests](requests.md).",
          "live: {requests: yes, budget: 5}",
          {live}};
}

std::vector<Section> all_sections() {
  const Option plugins{.name = "plugins",
                       .type = OptionType::text,
                       .list = true,
                       .text = "Paths of the libraries.",
                       .range_text = path_range};
  const Option events{.name = "events",
                      .type = OptionType::text,
                      .list = true,
                      .text =
                          "Names that the program may signal, besides those that tasks mention with `on`. At most 64 "
                          "in all."};
  const Option encoding{.name = "encoding",
                        .type = OptionType::choice,
                        .default_value = "utf-8",
                        .text =
                            "Encoding of units, labels, groups and attributes in the program's calls. `latin-1`: "
                            "those that are not UTF-8 are ISO 8859-1, and are converted. Names of meshes, variables "
                            "and parameters are always UTF-8, as this file is.",
                        .choices = {"utf-8", "latin-1"}};
  const Option on_error{.name = "on_error",
                        .type = OptionType::choice,
                        .default_value = "report",
                        .text =
                            "`report`: a failed analysis or output is reported and the run continues. `stop`: the "
                            "simulation's next end of iteration returns the error.",
                        .choices = {"report", "stop"}};
  const Option drain_limit{.name = "drain_limit",
                           .type = OptionType::real,
                           .default_value = "60",
                           .text = "Seconds that closing the session may wait for servers to finish.",
                           .minimum = 0};
  const Option steering_ahead{
      .name = "steering_ahead",
      .type = OptionType::integer,
      .text =
          "Number of iterations between the one in which the servers accept a change of a parameter and the one at "
          "whose end it takes effect. A client that is this far ahead of its servers waits. If left out: 0 with "
          "`inline`, otherwise `max_in_flight`; with `when_full: skip` at least 64.",
      .minimum = 1,
      .maximum = 1 << 20};
  return {
      placement_section(),
      parameters_section(),
      meshes_section(),
      variables_section(),
      derived_section(),
      {"analyses",
       SectionForm::tasks,
       "The analyses of published variables, in this order.",
       "analyses:\n  - histogram: {variable: temperature, bins: 64, every: 5}",
       {}},
      {"outputs",
       SectionForm::tasks,
       "The outputs of published variables, after the analyses, in this order.",
       "outputs:\n  - hdf5: {variables: [temperature], every: 10}",
       {}},
      output_section(),
      {"plugins",
       SectionForm::option,
       "Shared libraries with analyses, outputs and formats of your own.",
       "plugins: [./libmine.so]",
       {plugins}},
      {"events", SectionForm::option, "Named signals of the program.", "events: [checkpoint]", {events}},
      steering_section(),
      {"steering_ahead",
       SectionForm::option,
       "The delay of changes of parameters.",
       "steering_ahead: 10",
       {steering_ahead}},
      live_section(),
      {"encoding",
       SectionForm::option,
       "The encoding of texts in the program's calls.",
       "encoding: latin-1",
       {encoding}},
      {"on_error", SectionForm::option, "The reaction to a failed analysis or output.", "on_error: stop", {on_error}},
      {"drain_limit", SectionForm::option, "The time limit for closing.", "drain_limit: 120", {drain_limit}},
  };
}

}  // namespace

const std::vector<Section>& sections() {
  static const std::vector<Section> all = all_sections();
  return all;
}

const Section& section(std::string_view name) {
  for (const Section& candidate : sections()) {
    if (candidate.name == name) return candidate;
  }
  fail(Code::internal, "there is no section '{}'", name);
}

const std::vector<Option>& task_options() {
  static const std::vector<Option> options{
      {.name = "name",
       .type = OptionType::text,
       .text = "Name in messages and timings; if left out the kind, numbered from the second on."},
      {.name = "every",
       .type = OptionType::schedule,
       .default_value = "1",
       .text = "Interval between runs in iterations (`5`), cycles (`10 cycles`), units of simulated time (`0.5 "
               "time`) or seconds (`30 s`). Iterations and cycles are those whose distance from `start` (0) is a "
               "multiple; for times it is the first iteration in each interval. `auto`: every iteration while the "
               "servers keep up, otherwise fewer."},
      {.name = "start",
       .type = OptionType::real,
       .text = "The first iteration, cycle, simulated time or second since the start, from which intervals are "
               "counted; the unit is that of `every`."},
      {.name = "first",
       .type = OptionType::boolean,
       .default_value = "false",
       .text = "Also runs in the first iteration within `start` and `end`, even if it is not a multiple."},
      {.name = "end",
       .type = OptionType::real,
       .text = "The last iteration, cycle, time or second; the unit is that of `every`."},
      {.name = "on",
       .type = OptionType::text,
       .text = "Name of an event: it only runs in iterations in which the program signalled it."},
      {.name = "when",
       .type = OptionType::text,
       .text = "A condition: it only runs in iterations in which this holds. Comparisons of numbers, `min`, `max`, "
               "`mean` and `sum` of a variable or a component of it, `iteration`, `cycle`, `time`, and `previous` and "
               "`change` of these, joined with `and`, `or` and `not`. See [conditions](triggers.md)."},
      {.name = "group",
       .type = OptionType::text,
       .text = "The group in `placement.groups` whose servers run it; the first if left out. Without groups all "
               "servers run everything. See [groups of servers](groups.md)."},
      {.name = "isolate",
       .type = OptionType::choice,
       .default_value = "none",
       .text = "`process`: the part that reads the values runs in a process of its own, so that a crash, an endless "
               "loop or a leak there only costs this analysis its iteration. Only for analyses that come with "
               "Sidestream or from a plug-in. See [containment](containment.md).",
       .choices = {"none", "process"}},
      {.name = "limit",
       .type = OptionType::text,
       .text = "Time limit in an iteration: `10 s`, `500 ms`, `2 min`, `1 h`. If it is isolated, its process is ended "
               "then and the iteration of this analysis is lost; otherwise there is a warning and it continues."},
      {.name = "memory_limit",
       .type = OptionType::bytes,
       .text = "With `isolate: process`: memory that its process may allocate, including the language's runtime. "
               "More fails as on a machine without memory, and the process is replaced.",
       .minimum = 16 << 20},
  };
  return options;
}

}  // namespace sidestream
