// The section `meshes`: options, and the construction of each kind of mesh.
//
// 1. MeshEntry holds all options. Each kind has a function that refuses the options it would ignore, and makes size,
//    spacing and geometry.
// 2. Geometry in variables: only names are known here; they get their roles when the variables are declared.
// 3. read_topology: periodic axes, refinement, units and labels, which all kinds have.
// Numbers of nodes must fit in 64 bits.
#include "config/meshes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "config/attributes.hpp"
#include "config/sections.hpp"
#include "data/mesh_arrays.hpp"
#include "data/owned_points.hpp"
#include "sidestream/error.hpp"

namespace sidestream {

namespace {

/// An entry under `meshes:`.
struct MeshEntry {
  MeshKind kind = MeshKind::uniform;
  std::vector<Index> size{};
  std::vector<double> spacing{}, origin{};
  std::vector<int> periodic{};  ///< axes
  std::vector<std::string> refinement{};
  bool fixed = false;
  bool owned_points = false;
  std::vector<std::string> units{}, labels{};
  std::vector<Attribute> attributes{};
  int dimensions = 3;
  Settings settings{};  ///< all of these, and coordinates
};

std::vector<Option> along_axes() {
  std::vector<Option> axes;
  for (const char* const name : {"x", "y", "z"}) {
    Option& axis = axes.emplace_back(Option{.name = name, .type = OptionType::real, .list = true, .least_entries = 2});
    axis.required = axes.size() == 1;
    axis.text = fmt::format("The {} coordinates of the nodes, increasing; one more than cells.", name);
    axis.range_text = "increasing";
  }
  return axes;
}

/// Names of variables.
std::vector<Option> array_names() {
  std::vector<Option> options;
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
  return options;
}

/// Options on the positions of nodes.
OptionTable<MeshEntry> geometry_options() {
  Option coordinates{.name = "coordinates", .type = OptionType::map};
  coordinates.text =
      "Positions of the nodes of a rectilinear mesh; the number of axes is the number of dimensions. For curvilinear "
      "and unstructured meshes and points: the name of the variable with the position of each point, a component for "
      "each dimension. A curvilinear mesh of fewer dimensions may have three: a surface or a curve in space.";
  coordinates.options = along_axes();
  return {
      option("type", &MeshEntry::kind,
             "`uniform`: equal spacing. `rectilinear`: the coordinates along each axis are listed. `curvilinear`: each "
             "node has coordinates of its own. `unstructured`: lists of points and of cells of any type. `points`: "
             "only points. The positions of the last three are in variables, which the options below name. `octree`: "
             "trees over a box of root cells, one for each block.",
             {.standard = "uniform",
              .choices = {{"uniform", MeshKind::uniform},
                          {"rectilinear", MeshKind::rectilinear},
                          {"curvilinear", MeshKind::curvilinear},
                          {"unstructured", MeshKind::unstructured},
                          {"points", MeshKind::points},
                          {"octree", MeshKind::octree}}}),
      option("size", &MeshEntry::size,
             "Number of cells along x, y and z of a uniform or curvilinear mesh, of root cells of an octree; with "
             "`points: owned` of points. The number of entries is the number of dimensions.",
             {.minimum = 1, .least_entries = 1, .most_entries = 3}),
      option("spacing", &MeshEntry::spacing,
             "Size of a cell of a uniform mesh, of a root cell of an octree, along each axis; one number holds for all "
             "axes.",
             {.standard = 1, .least_entries = 1, .most_entries = 3, .range_text = "above 0"}),
      option("origin", &MeshEntry::origin,
             "Position of the node (0, 0, 0) of a uniform mesh or an octree; one number holds for all axes.",
             {.standard = 0, .least_entries = 1, .most_entries = 3}),
      options_read_elsewhere<MeshEntry>({coordinates})};
}

const OptionTable<MeshEntry>& mesh_table() {
  static const OptionTable<MeshEntry> all = geometry_options().add(
      {option<OptionType::choice>("periodic", &MeshEntry::periodic, "The axes along which the mesh is periodic.",
                                  {.choices = {{"x", 0}, {"y", 1}, {"z", 2}}, .most_entries = 3}),
       option("refinement", &MeshEntry::refinement,
              "For meshes with refinement levels: the number of cells of the next finer level along a cell. One entry "
              "for each step from a level to the next: `2`, or `2x2x1` if axes differ.",
              {.most_entries = 30, .range_text = "1 to 1024, or one for each axis"}),
       option("fixed", &MeshEntry::fixed, "`true`: blocks never change after the start.", {.standard = false}),
       option<OptionType::choice>(
           "points", &MeshEntry::owned_points,
           "`shared`: a block has all nodes of its cells, and nodes between blocks belong to both. `owned`, on uniform "
           "and rectilinear meshes of one level, for finite differences: no two blocks have points in common. `size` "
           "and the boxes of blocks then count points, and the `centering` of variables is `node` if left out. A "
           "periodic rectilinear axis has one more coordinate than points, its end. Servers get the points between "
           "blocks where they need them.",
           {.standard = "shared", .choices = {{"shared", false}, {"owned", true}}}),
       option("dimensions", &MeshEntry::dimensions,
              "Number of dimensions of the space of an unstructured mesh or points; 3 if left out.",
              {.minimum = 1, .maximum = 3}),
       option("units", &MeshEntry::units,
              "Units of positions along each axis, for files; one holds for all axes. xarray and netCDF show them as "
              "`units` of coordinates.",
              {.most_entries = 3}),
       option("labels", &MeshEntry::labels, "Names of the axes in files: `long_name` of coordinates.",
              {.most_entries = 3}),
       options_read_by(read_attributes,
                       {attributes_option("Further attributes, a text or a number each, for HDF5, NetCDF and Zarr "
                                          "files and databases: `{projection: mercator}`.")},
                       &MeshEntry::attributes),
       options_read_elsewhere<MeshEntry>(array_names())});
  return all;
}

/// One value per axis from a list with one value for all or one for each; `filler` on unused axes.
std::array<double, 3> per_axis(const MeshEntry& entry, std::vector<double> MeshEntry::*field, double filler) {
  const std::vector<double>& values = entry.*field;
  const std::size_t dimensions = entry.size.size();
  if (values.size() != 1 && values.size() != dimensions) {
    mesh_table().fail(entry.settings, field,
                      fmt::format("found {} entries for '{}' of a mesh whose 'size' has {}, expected as many, or one "
                                  "for all axes; make them equal",
                                  values.size(), mesh_table().name(field), dimensions));
  }
  std::array<double, 3> result{filler, filler, filler};
  for (std::size_t axis = 0; axis < dimensions; ++axis) result[axis] = values.size() == 1 ? values[0] : values[axis];
  return result;
}

/// Refuses an option of the other type of mesh, which would be ignored.
void refuse(const MeshEntry& entry, const std::string& option, const std::string& type, const std::string& remedy) {
  if (!entry.settings.given(option)) return;
  entry.settings.fail(option, fmt::format("found '{}' for a {} mesh, expected none; {}", option, type, remedy));
}

void check_count(const Mesh& mesh, const Settings& settings, const std::string& option) {
  try {
    Box nodes = mesh.cells;
    for (auto& end : nodes.hi) end = end == INT64_MAX ? end : end + 1;
    static_cast<void>(nodes.count());
  } catch (const Error&) {
    settings.fail(option,
                  "found a mesh whose number of nodes does not fit in 64 bits, expected fewer; make it smaller");
  }
}

/// Refuses the arrays that the kind does not have.
void refuse_arrays(const MeshEntry& entry, const std::string& type) {
  for (int n = 1; n < role_count; ++n) {
    const auto role = static_cast<Role>(n);
    if (role == Role::coordinates || knows_role(entry.kind, role)) continue;
    refuse(entry, std::string(name_of(role)), type, "remove it");
  }
}

/// Reads axes and cells of meshes whose blocks are boxes.
void read_size(Mesh& mesh, const MeshEntry& entry, const std::string& type) {
  const std::vector<Index>& size = entry.size;
  if (size.empty()) {
    entry.settings.fail("size",
                        fmt::format("found no 'size' for a {} mesh, expected the number of cells along each axis; add "
                                    "'size: [..., ...]'",
                                    type));
  }
  mesh.dimensions = static_cast<int>(size.size());
  mesh.cells.hi = {1, 1, 1};
  for (std::size_t axis = 0; axis < size.size(); ++axis) mesh.cells.hi[axis] = size[axis];
  check_count(mesh, entry.settings, "size");
}

std::array<double, 3> read_spacing(const MeshEntry& entry) {
  const auto spacing = per_axis(entry, &MeshEntry::spacing, 1);
  for (const double step : spacing) {
    if (step > 0) continue;
    entry.settings.fail("spacing", fmt::format("found {} in 'spacing', expected numbers above 0; change it", step));
  }
  return spacing;
}

Mesh make_uniform(const MeshEntry& entry) {
  refuse(entry, "coordinates", "uniform", "write 'type: rectilinear' or remove it");
  refuse(entry, "dimensions", "uniform", "it follows from 'size': remove it");
  refuse_arrays(entry, "uniform");
  Mesh mesh;
  read_size(mesh, entry, "uniform");
  mesh.geometry = std::make_shared<UniformGeometry>(per_axis(entry, &MeshEntry::origin, 0), read_spacing(entry));
  return mesh;
}

std::vector<double> axis_nodes(const Settings& coordinates, const std::string& axis) {
  const std::vector<double> nodes = coordinates.reals(axis);
  for (std::size_t n = 1; n < nodes.size(); ++n) {
    if (nodes[n] > nodes[n - 1]) continue;
    coordinates.fail(axis,
                     fmt::format("found {} after {} in the coordinates '{}', expected increasing numbers; sort them "
                                 "and remove doubles",
                                 nodes[n], nodes[n - 1], axis));
  }
  return nodes;
}

Mesh make_rectilinear(const MeshEntry& entry) {
  for (const char* option : {"size", "spacing", "origin"}) {
    refuse(entry, option, "rectilinear", "it follows from 'coordinates': remove it");
  }
  refuse(entry, "dimensions", "rectilinear", "it follows from 'coordinates': remove it");
  refuse_arrays(entry, "rectilinear");
  if (!entry.settings.has("coordinates")) {
    entry.settings.fail("coordinates",
                        "found no 'coordinates' for a rectilinear mesh, expected the nodes along each axis; add "
                        "'coordinates: {x: [...], y: [...], z: [...]}'");
  }
  const Settings coordinates = entry.settings.map("coordinates");
  if (coordinates.given("z") && !coordinates.given("y")) {
    coordinates.fail("z", "found coordinates along z without y, expected x, x and y, or all three; add 'y: [...]'");
  }
  Mesh mesh;
  std::array<std::vector<double>, 3> nodes;
  mesh.dimensions = coordinates.given("z") ? 3 : coordinates.given("y") ? 2 : 1;
  for (int axis = 0; axis < 3; ++axis) {
    const std::string name(1, "xyz"[axis]);
    nodes[axis] = axis < mesh.dimensions ? axis_nodes(coordinates, name) : std::vector<double>{0, 1};
    mesh.cells.hi[axis] = static_cast<Index>(nodes[axis].size()) - 1;
  }
  check_count(mesh, entry.settings, "coordinates");
  mesh.geometry = std::make_shared<RectilinearGeometry>(mesh.cells.lo, std::move(nodes));
  return mesh;
}

/// Makes a mesh whose geometry is in variables.
Mesh make_from_arrays(const MeshEntry& entry) {
  Mesh mesh;
  mesh.geometry = std::make_shared<ArrayGeometry>(entry.kind);
  const std::string type = mesh.geometry->kind();
  for (const char* option : {"spacing", "origin"}) {
    refuse(entry, option, type, "the variable that 'coordinates' names says where its points are: remove it");
  }
  refuse_arrays(entry, type);
  if (entry.kind == MeshKind::curvilinear) {
    refuse(entry, "dimensions", type, "it follows from 'size': remove it");
    read_size(mesh, entry, type);
    return mesh;
  }
  for (const char* option : {"size", "refinement", "periodic"}) {
    refuse(entry, option, type, "each block says how many points it has: remove it");
  }
  mesh.dimensions = entry.dimensions;
  return mesh;
}

Mesh make_octree(const MeshEntry& entry) {
  refuse(entry, "coordinates", "octree", "'origin' and 'spacing' of its root cells say where it is: remove it");
  refuse(entry, "dimensions", "octree", "it follows from 'size': remove it");
  refuse(entry, "refinement", "octree", "the variable that 'refined' names says which cells are: remove it");
  refuse(entry, "periodic", "octree", "trees have nothing around them yet: remove it");
  refuse_arrays(entry, "octree");
  Mesh mesh;
  read_size(mesh, entry, "octree");
  mesh.geometry =
      std::make_shared<OctreeGeometry>(mesh.cells.hi, per_axis(entry, &MeshEntry::origin, 0), read_spacing(entry));
  mesh.cells = {};
  return mesh;
}

/// `2` or `2x2x1`; also `2x1` for a mesh of two dimensions.
Index3 parse_ratio(const std::string& text, std::size_t dimensions, const Settings& settings) {
  Index3 ratio{};
  std::size_t count = 0;
  const char *at = text.data(), *const end = at + text.size();
  bool more = true;  // a number must follow
  for (; more && count < 3; ++count) {
    const auto read = std::from_chars(at, end, ratio[count]);
    if (read.ec != std::errc() || ratio[count] < 1 || ratio[count] > 1024) break;
    more = read.ptr != end && *read.ptr == 'x';
    at = more ? read.ptr + 1 : read.ptr;
  }
  if (more || at != end || (count != 1 && count != dimensions && count != 3)) {
    settings.fail("refinement", fmt::format("found '{}' in 'refinement', expected a number from 1 to 1024 or one for "
                                            "each axis; write '2' or '2x2x1'",
                                            text));
  }
  if (count == 1) ratio[1] = ratio[2] = ratio[0];
  return ratio;
}

/// Texts for each axis, from one for all axes or one for each.
std::array<std::string, 3> texts_of(const Mesh& mesh, const MeshEntry& entry, const char* option,
                                    const std::vector<std::string>& texts) {
  std::array<std::string, 3> all;
  const auto axes = static_cast<std::size_t>(mesh.dimensions);
  if (texts.size() > 1 && texts.size() != axes) {
    entry.settings.fail(option, fmt::format("found {} entries for '{}' of a mesh of {} dimensions, expected one for "
                                            "each axis; correct the list",
                                            texts.size(), option, axes));
  }
  for (std::size_t a = 0; a < axes && !texts.empty(); ++a) all[a] = texts[texts.size() == 1 ? 0 : a];
  return all;
}

/// Sets what all types of meshes have.
void read_topology(Mesh& mesh, const MeshEntry& entry) {
  for (const int axis : entry.periodic) {
    if (axis >= mesh.dimensions) {
      entry.settings.fail("periodic",
                          fmt::format("found the axis {} in 'periodic' of a mesh of {} dimensions, expected one "
                                      "that it has; remove it",
                                      "xyz"[axis], mesh.dimensions));
    }
    mesh.periodic[static_cast<std::size_t>(axis)] = true;
  }
  for (const std::string& ratio : entry.refinement) {
    mesh.refinement.push_back(parse_ratio(ratio, static_cast<std::size_t>(mesh.dimensions), entry.settings));
    for (int a = mesh.dimensions; a < 3; ++a) mesh.refinement.back()[static_cast<std::size_t>(a)] = 1;
  }
  mesh.fixed = entry.fixed;
  mesh.units = texts_of(mesh, entry, "units", entry.units);
  mesh.labels = texts_of(mesh, entry, "labels", entry.labels);
  mesh.attributes = entry.attributes;
  const std::string wrong = entry.owned_points ? own_points(mesh) : "";
  if (!wrong.empty()) entry.settings.fail("points", fmt::format("found 'points: owned', but {}", wrong));
}

}  // namespace

Mesh make_mesh(const std::string& name, const Settings& settings) {
  MeshEntry entry = mesh_table().read(settings);
  entry.settings = settings;
  Mesh mesh = entry.kind == MeshKind::uniform       ? make_uniform(entry)
              : entry.kind == MeshKind::rectilinear ? make_rectilinear(entry)
              : entry.kind == MeshKind::octree      ? make_octree(entry)
                                                    : make_from_arrays(entry);
  mesh.name = name;
  read_topology(mesh, entry);
  return mesh;
}

Section meshes_section() {
  return {"meshes", SectionForm::named,
          "The meshes the simulation computes on, by name. A mesh may be declared here, by the program's calls, or by "
          "both if they agree.",
          "meshes:\n  grid: {type: uniform, size: [$nx, $ny, $nz], spacing: [$h, $h, $h]}\n"
          "  column: {type: rectilinear, coordinates: {x: [0, 1, 2, 4], y: [0, 1], z: [0, 0.1, 0.3, 0.7]}}",
          mesh_table().declarations()};
}

std::vector<Option> mesh_options(const Node& entry) {
  std::vector<Option> options = section("meshes").options;
  const Entry* type = entry.find("type");
  if (type == nullptr) return options;
  const std::string& text = type->value.text;
  if (text != "curvilinear" && text != "unstructured" && text != "points") return options;
  const auto coordinates =
      std::find_if(options.begin(), options.end(), [](const Option& option) { return option.name == "coordinates"; });
  coordinates->type = OptionType::text;
  coordinates->options.clear();
  return options;
}

namespace {

/// True if both meshes have the same nodes.
bool same_nodes(const Mesh& a, const Mesh& b) {
  const auto* tree = dynamic_cast<const OctreeGeometry*>(a.geometry.get());
  const auto* other = dynamic_cast<const OctreeGeometry*>(b.geometry.get());
  if (tree != nullptr && other != nullptr) {
    return tree->roots() == other->roots() && tree->origin() == other->origin() && tree->spacing() == other->spacing();
  }
  const Axes* first = a.geometry ? a.geometry->axes() : nullptr;
  const Axes* second = b.geometry ? b.geometry->axes() : nullptr;
  if (first == nullptr || second == nullptr) return first == second;
  for (int axis = 0; axis < a.dimensions; ++axis) {
    // Uniform axes agree if two nodes do, so that long axes need not be compared.
    const bool uniform = a.geometry->kind() == "uniform" && b.geometry->kind() == "uniform";
    const Index end = uniform ? std::min(a.cells.lo[axis] + 1, a.cells.hi[axis]) : a.cells.hi[axis];
    for (Index node = a.cells.lo[axis]; node <= end; ++node) {
      if (first->node(axis, node) != second->node(axis, node)) return false;
    }
  }
  return true;
}

}  // namespace

std::string difference_of(const Mesh& a, const Mesh& b) {
  if (a.dimensions != b.dimensions) return "dimensions";
  if (a.cells != b.cells) return "cells";
  if (a.periodic != b.periodic) return "periodic";
  if (a.refinement != b.refinement) return "refinement";
  if (a.fixed != b.fixed) return "fixed";
  if (a.owned_points != b.owned_points) return "points";
  if (a.kind() != b.kind() && (a.axes() == nullptr || b.axes() == nullptr)) return "type";
  return same_nodes(a, b) ? "" : "nodes";
}

}  // namespace sidestream
