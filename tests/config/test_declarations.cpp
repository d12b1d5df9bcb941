// Meshes and variables of the file, and how they are joined with those of the program.
#include "config/support.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

std::string mesh(const std::string& options) { return "meshes: {grid: {" + options + "}}"; }

std::string variable(const std::string& options) {
  return "meshes: {grid: {size: 4}}\nvariables: {t: {mesh: grid" + options + "}}";
}

/// A program that declares the mesh `grid` (8 x 4, spacing 0.5) and the variable `t` on it.
Metadata program() {
  Mesh grid;
  grid.id = 0;
  grid.name = "grid";
  grid.cells = {{0, 0, 0}, {8, 4, 1}};
  grid.dimensions = 2;
  grid.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{0.5, 0.5, 1.0});
  Variable t;
  t.id = 0;
  t.name = "t";
  t.mesh = 0;
  t.unit = "K";
  return {{grid}, {t}};
}

}  // namespace

TEST_CASE("uniform meshes") {
  const Metadata metadata = read(
                                "meshes:\n  a: {size: [$n, 2 * $n, 3], spacing: [$h, 1, 2], origin: [-1, 0, "
                                "5]}\n  b: {size: 4, spacing: 0.25}\n"
                                "  c: {type: uniform, size: [2, 3], origin: 1}\n")
                                .metadata;
  REQUIRE(metadata.meshes.size() == 3);
  const Mesh &a = metadata.meshes[0], &b = metadata.meshes[1], &c = metadata.meshes[2];
  CHECK(a.id == 0);
  CHECK(c.id == 2);
  CHECK(a.cells == Box{{0, 0, 0}, {8, 16, 3}});
  CHECK(a.dimensions == 3);
  CHECK(a.geometry->kind() == "uniform");
  CHECK(a.geometry->axes()->node(0, 4) == 1);
  CHECK(a.geometry->axes()->node(2, 3) == 11);
  CHECK(b.cells == Box{{0, 0, 0}, {4, 1, 1}});
  CHECK(b.dimensions == 1);
  CHECK(b.geometry->axes()->node(0, 4) == 1);
  CHECK(c.dimensions == 2);
  CHECK(c.geometry->axes()->node(1, 3) == 4);
  CHECK(c.geometry->axes()->node(2, 1) == 1);
}

TEST_CASE("rectilinear meshes") {
  const Metadata metadata =
      read("meshes:\n  a: {type: rectilinear, coordinates: {x: [0, 1, 4, $n], y: [-1, $h]}}\n").metadata;
  const Mesh& a = metadata.meshes.at(0);
  CHECK(a.cells == Box{{0, 0, 0}, {3, 1, 1}});
  CHECK(a.dimensions == 2);
  CHECK(a.geometry->kind() == "rectilinear");
  CHECK(a.geometry->axes()->node(0, 3) == 8);
  CHECK(a.geometry->axes()->node(1, 1) == 0.5);
  CHECK(a.geometry->axes()->centre(2, 0) == 0.5);
}

TEST_CASE("variables") {
  const Metadata metadata = read(
                                "meshes: {a: {size: 4}, b: {size: [2, 2]}}\nvariables:\n  plain: {mesh: b}\n"
                                "  full: {mesh: a, type: int16, centering: node, components: 3, order: row, "
                                "unit: m/s, label: 'The speed', "
                                "group: flow, time_varying: false, ghosts: filled}\n")
                                .metadata;
  REQUIRE(metadata.variables.size() == 2);
  const Variable &plain = metadata.variables[0], &full = metadata.variables[1];
  CHECK(plain.mesh == 1);
  CHECK(plain.type == Type::float64);
  CHECK(plain.centering == Centering::cell);
  CHECK(plain.components == 1);
  CHECK(plain.order == Order::column);
  CHECK(plain.time_varying);
  CHECK(!plain.filled);
  CHECK(plain.title() == "plain");
  CHECK(full.id == 1);
  CHECK(full.mesh == 0);
  CHECK(full.type == Type::int16);
  CHECK(full.centering == nodes_of(1));
  CHECK(full.components == 3);
  CHECK(full.order == Order::row);
  CHECK(!full.time_varying);
  CHECK(full.filled);
  CHECK(full.unit == "m/s");
  CHECK(full.title() == "The speed");
  CHECK(full.group == "flow");
}

TEST_CASE("every element type has its name") {
  for (int n = 0; n < type_count; ++n) {
    const auto type = static_cast<Type>(n);
    const std::string name(name_of(type));
    CHECK(read(variable(", type: " + name)).metadata.variables.at(0).type == type);
  }
}

TEST_CASE("centrings are those of the axes that the mesh uses") {
  const Metadata metadata = read(
                                "meshes: {a: {size: [4, 4, 4]}, b: {size: [4, 4]}}\nvariables:\n"
                                "  a1: {mesh: a, centering: x-face}\n  a6: {mesh: a, centering: x-edge}\n"
                                "  b6: {mesh: b, centering: x-edge}\n  b7: {mesh: b, centering: node}\n"
                                "  b4: {mesh: b, centering: z-face}\n")
                                .metadata;
  CHECK(metadata.variables[0].centering == Centering::x_face);
  CHECK(metadata.variables[1].centering == Centering::x_edge);
  CHECK(metadata.variables[2].centering == Centering::y_face);
  CHECK(metadata.variables[3].centering == nodes_of(2));
  CHECK(metadata.variables[4].centering == Centering::cell);
}

TEST_CASE("meshes that say where they are in variables") {
  const Metadata metadata =
      read(
          "meshes:\n  c: {type: curvilinear, size: [$n, 3], coordinates: x}\n"
          "  u: {type: unstructured, coordinates: y, connectivity: l, offsets: o, types: k}\n"
          "  p: {type: points, dimensions: 2, coordinates: z, point_ids: i, point_ghosts: g}\nvariables:\n"
          "  x: {mesh: c, components: 2}\n  y: {mesh: u, components: 3, type: float32}\n"
          "  l: {mesh: u, type: int64, time_varying: false}\n  o: {mesh: u, type: int32}\n  k: {mesh: u, type: uint8}\n"
          "  z: {mesh: p, components: 2}\n  i: {mesh: p, type: int64}\n  g: {mesh: p, type: uint8}\n"
          "  t: {mesh: u}\n")
          .metadata;
  const Mesh &c = metadata.meshes[0], &u = metadata.meshes[1], &p = metadata.meshes[2];
  CHECK(c.kind() == MeshKind::curvilinear);
  CHECK(c.cells == Box{{0, 0, 0}, {8, 3, 1}});
  CHECK(c.dimensions == 2);
  CHECK(c.array(Role::coordinates) == 0);
  CHECK(metadata.variables[0].centering == nodes_of(2));
  CHECK(u.kind() == MeshKind::unstructured);
  CHECK(u.dimensions == 3);
  CHECK(u.array(Role::connectivity) == 2);
  CHECK(u.array(Role::types) == 4);
  CHECK(u.array(Role::faces) == -1);
  CHECK(metadata.variables[2].role == Role::connectivity);
  CHECK(p.kind() == MeshKind::points);
  CHECK(p.dimensions == 2);
  CHECK(p.array(Role::point_ghosts) == 7);
  CHECK(metadata.variables[8].role == Role::none);
}

TEST_CASE("wrong meshes and variables") {
  const std::vector<BadCase> cases{
      {"meshes: [grid]", "1:9", "found a list for 'meshes', expected a map from names",
       "write 'meshes: {NAME: {...}}'"},
      {"meshes: {grid: 4}", "1:16", "found '4' for the mesh 'grid', expected a map of options", "write 'name: value'"},
      {mesh(""), "1:10", "found no 'size' for a uniform mesh", "add 'size: [..., ...]'"},
      {mesh("sizes: 4"), "1:17", "found the unknown option 'sizes' of the mesh 'grid'", "did you mean 'size'?"},
      {mesh("type: twisted"), "1:23", "expected one of uniform, rectilinear", "write one of them"},
      {mesh("type: curvilinear"), "1:10", "found no 'size' for a curvilinear mesh", "add 'size: [..., ...]'"},
      {mesh("type: curvilinear, size: [4, 4]"), "1:23", "is curvilinear and has no coordinates", "name the variable"},
      {mesh("type: points, size: 4"), "1:37", "found 'size' for a points mesh", "remove it"},
      {mesh("type: points, types: t"), "1:38", "found 'types' for a points mesh", "remove it"},
      {mesh("size: 4, connectivity: t"), "1:40", "found 'connectivity' for a uniform mesh", "remove it"},
      {mesh("size: 4, dimensions: 1"), "1:38", "found 'dimensions' for a uniform mesh", "remove it"},
      {mesh("type: points, coordinates: x"), "1:44", "there is no variable 'x'", "declare it"},
      {mesh("type: points, coordinates: x") + "\nvariables: {x: {mesh: grid, components: 2}}", "1:44",
       "'x' has 2 components, expected 3 for the coordinates", "change it"},
      {mesh("type: points, coordinates: x") + "\nvariables: {x: {mesh: grid, type: int32, components: 3}}", "1:44",
       "'x' has the type int32, expected float32 or float64", "change it"},
      {mesh("type: points, coordinates: x, point_ids: x") + "\nvariables: {x: {mesh: grid, components: 3}}", "1:58",
       "'x' is the coordinates of the mesh 'grid' already", "name another"},
      {mesh("type: points, coordinates: x") + "\nvariables: {x: {mesh: grid, components: 3}, t: {mesh: grid, "
                                              "centering: x-face}}",
       "1:23", "'t' lies at x-faces of the mesh 'grid', which is points", "expected cell or node"},
      {mesh("size: [4, 0]"), "1:27", "found '0' for 'size', expected a whole number at least 1", "change it"},
      {mesh("size: [4, 4, 4, 4]"), "1:23", "found 4 entries for 'size'", "remove some"},
      {mesh("size: [4, 4], spacing: [1, 1, 1]"), "1:40", "found 3 entries for 'spacing' of a mesh whose 'size' has 2",
       "make them equal"},
      {mesh("size: [4, 4, 4], origin: [1, 1]"), "1:42", "found 2 entries for 'origin'", "make them equal"},
      {mesh("size: 4, spacing: 0"), "1:35", "found 0 in 'spacing', expected numbers above 0", "change it"},
      {mesh("size: 4, spacing: -1"), "1:35", "found -1 in 'spacing'", "change it"},
      {mesh("size: [4e9, 4e9, 4e9]"), "1:23", "number of nodes does not fit in 64 bits", "make it smaller"},
      {mesh("size: 9223372036854775807"), "1:23", "number of nodes does not fit in 64 bits", "make it smaller"},
      {mesh("size: 4, coordinates: {x: [0, 1]}"), "1:39", "found 'coordinates' for a uniform mesh",
       "write 'type: rectilinear'"},
      {mesh("type: rectilinear"), "1:10", "found no 'coordinates'", "add 'coordinates:"},
      {mesh("type: rectilinear, coordinates: {y: [0, 1]}"), "1:49", "found no 'x' for 'coordinates'", "add 'x: ...'"},
      {mesh("type: rectilinear, coordinates: {x: [0, 1], z: [0, 1]}"), "1:64", "found coordinates along z without y",
       "add 'y: [...]'"},
      {mesh("type: rectilinear, coordinates: {x: [0]}"), "1:53", "found 1 entry for 'x'", "add the missing ones"},
      {mesh("type: rectilinear, coordinates: {x: [0, 1, 1]}"), "1:53", "found 1 after 1 in the coordinates 'x'",
       "sort them"},
      {mesh("type: rectilinear, size: 4, coordinates: {x: [0, 1]}"), "1:42", "found 'size' for a rectilinear mesh",
       "remove it"},
      {"meshes: {a/b: {size: 4}}", "1:10", "found '/' in the mesh name 'a/b'", "rename it"},
      {"meshes: {'': {size: 4}}", "1:10", "found the mesh name ''", "rename it"},
      {"variables: {..: {mesh: a}}", "1:13", "found the variable name '..'", "rename it"},
      {"variables: {t: {}}", "1:13", "found no 'mesh' for the variable 't', expected a mesh name", "add 'mesh: ...'"},
      {"variables: {t: {mesh: grid}}", "1:23", "found 'grid' for 'mesh', expected a declared mesh (none)",
       "declare it under 'meshes:'"},
      {variable(", type: double"), "2:35", "found 'double' for 'type', expected one of int8, int16",
       "did you mean 'float64'?"},
      {variable(", type: quad"), "2:35", "found 'quad' for 'type', expected one of int8, int16", "write one of them"},
      {variable(", type: flaot64"), "2:35", "found 'flaot64' for 'type'", "did you mean 'float64'?"},
      {variable(", centering: nodes"), "2:40", "expected one of cell, node", "did you mean 'node'?"},
      {variable(", centering: x-fase"), "2:40", "expected one of cell, node", "did you mean 'x-face'?"},
      {variable(", components: 0"), "2:41", "expected a whole number from 1 to 1024", "change it"},
      {variable(", order: fortran"), "2:36", "expected one of column, row", "write one of them"},
      {variable(", time_varying: never"), "2:43", "expected true or false", "write true or false"},
      {variable(", ghosts: true"), "2:37", "expected one of untrusted, filled", "write one of them"},
  };
  for (const BadCase& bad : cases) check_bad(bad);
}

TEST_CASE("what the program declares follows what the file declares") {
  const Metadata metadata = read("meshes: {other: {size: 3}}\nvariables: {v: {mesh: grid}}", program()).metadata;
  REQUIRE(metadata.meshes.size() == 2);
  CHECK(metadata.meshes[1].name == "grid");
  CHECK(metadata.meshes[1].id == 1);
  REQUIRE(metadata.variables.size() == 2);
  CHECK(metadata.variables[0].mesh == 1);
  CHECK(metadata.variables[1].name == "t");
  CHECK(metadata.variables[1].id == 1);
  CHECK(metadata.variables[1].mesh == 1);
}

TEST_CASE("declared in both places and the same") {
  const Metadata metadata =
      read("meshes: {grid: {size: [8, 4], spacing: $h}}\nvariables: {t: {mesh: grid, label: Temperature}}", program())
          .metadata;
  REQUIRE(metadata.meshes.size() == 1);
  REQUIRE(metadata.variables.size() == 1);
  CHECK(metadata.variables[0].label == "Temperature");
  CHECK(metadata.variables[0].unit == "K");
}

TEST_CASE("declared in both places and different") {
  const std::string grid = "meshes: {grid: {size: [8, 4], spacing: 0.5}}\n";
  const std::vector<BadCase> cases{
      {"meshes: {grid: {size: [8, 5], spacing: 0.5}}", "1:10",
       "found the mesh 'grid', which the program declares differently (cells)", "remove the entry"},
      {"meshes: {grid: {size: [8, 4]}}", "1:10", "declares differently (nodes)", "correct one"},
      {"meshes: {grid: {size: [8, 4, 1], spacing: 0.5}}", "1:10", "declares differently (dimensions)", "correct one"},
      {"meshes: {grid: {size: [8, 4], spacing: 0.5, periodic: x}}", "1:10", "declares differently (periodic)",
       "correct one"},
      {"meshes: {grid: {type: rectilinear, coordinates: {x: [0, 1], y: [0, 1]}}}", "1:10",
       "declares differently (cells)", "correct"},
      {grid + "variables: {t: {mesh: grid, unit: C}}", "2:13", "found the variable 't', which the program",
       "correct one"},
      {grid + "variables: {t: {mesh: grid, components: 3}}", "2:13", "found the variable 't'", "correct one"},
      {grid + "variables: {t: {mesh: grid, time_varying: false}}", "2:13", "found the variable 't'", "correct one"},
  };
  for (const BadCase& bad : cases) check_bad(bad, program());
  Metadata unnamed = program();
  unnamed.meshes[0].name = "a/b";
  CHECK(error_of("events: [x]", unnamed).find("found '/' in the mesh name 'a/b'") == 0);
}
