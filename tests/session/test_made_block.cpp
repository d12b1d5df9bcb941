// Results as blocks of the meshes that they become.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "session/made/made_block.hpp"
#include "sidestream/error.hpp"

using namespace sidestream;

namespace {

/// Counts what goes to files.
class Files final : public Results {
 public:
  void add(const std::string&, const Table&) override { ++count; }
  void add(const std::string&, const Image&) override { ++count; }
  void add(const std::string&, const Surface&) override { ++count; }
  void add(const std::string&, const CellSet&) override { ++count; }
  void add(const std::string&, const DataSet&) override { ++count; }
  int count = 0;
};

/// A made mesh `m` with the variables.
Metadata with_mesh(Mesh mesh, std::vector<Variable> variables) {
  Metadata metadata;
  mesh.id = 0;
  mesh.name = "m";
  mesh.made = true;
  for (Variable& variable : variables) {
    variable.id = static_cast<std::int32_t>(metadata.variables.size());
    variable.mesh = 0;
    if (variable.role != Role::none) mesh.arrays[static_cast<std::size_t>(variable.role)] = variable.id;
    metadata.variables.push_back(variable);
  }
  metadata.meshes.push_back(mesh);
  return metadata;
}

Mesh box_mesh(std::array<Index, 3> size, int dimensions) {
  Mesh mesh;
  mesh.cells = {{0, 0, 0}, {size[0], size[1], size[2]}};
  mesh.dimensions = dimensions;
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  return mesh;
}

Variable variable(const std::string& name, Centering centering = Centering::cell, int components = 1,
                  Role role = Role::none, Type type = Type::float64) {
  Variable made;
  made.name = name;
  made.centering = centering;
  made.components = components;
  made.role = role;
  made.type = type;
  return made;
}

DataSet::Array array(const std::string& name, std::vector<Index> extents, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = static_cast<double>(n);
  DataSet::Array made{.name = name, .extents = std::move(extents)};
  const auto bytes = std::as_bytes(std::span(values));
  made.values.assign(bytes.begin(), bytes.end());
  return made;
}

template <class T>
std::vector<T> values_of(const MadeBlock& made, std::int32_t id) {
  for (const MadeBlock::Array& one : made.arrays) {
    if (one.variable != id) continue;
    std::vector<T> values(one.values.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), one.values.data(), one.values.size());
    return values;
  }
  return {};
}

std::string message_of(ResultCatcher& caught, const Metadata& metadata) {
  try {
    static_cast<void>(made_block(caught, metadata.meshes[0], metadata));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a data set fills cells and nodes; x is its last axis") {
  const Metadata metadata =
      with_mesh(box_mesh({4, 3, 1}, 2), {variable("m_a"), variable("b", nodes_of(2)), variable("m_c", {}, 2)});
  Files files;
  const std::vector<std::string> none;
  ResultCatcher caught(files, none, true);
  caught.add("x.h5", DataSet{{array("a", {3, 4}, 12), array("b", {4, 5}, 20), array("c", {3, 4, 2}, 24)}});
  CHECK(files.count == 0);
  const MadeBlock made = made_block(caught, metadata.meshes[0], metadata);
  CHECK(made.block.cells == Box{{0, 0, 0}, {4, 3, 1}});
  CHECK(made.arrays.size() == 3);
  CHECK(values_of<double>(made, 0).at(5) == 5);
  CHECK(values_of<double>(made, 2).size() == 24);
}

TEST_CASE("a part of a data set becomes the box that it covers, and no part an empty block") {
  const Metadata metadata = with_mesh(box_mesh({4, 3, 2}, 3), {variable("m_a")});
  Files files;
  const std::vector<std::string> none;
  ResultCatcher caught(files, none, false);
  DataSet::Array part = array("a", {2, 3, 4}, 8);
  part.start = {1, 1, 0};
  part.size = {1, 2, 4};
  caught.arrays.push_back(part);
  CHECK(made_block(caught, metadata.meshes[0], metadata).block.cells == Box{{0, 1, 1}, {4, 3, 2}});

  ResultCatcher elsewhere(files, none, false);
  elsewhere.add("x.h5", DataSet{{array("a", {2, 3, 4}, 24)}});  // counts on the first server only
  CHECK(made_block(elsewhere, metadata.meshes[0], metadata).block.empty());
}

TEST_CASE("an array with the whole name of a variable is preferred to one without that of the mesh") {
  const Metadata metadata = with_mesh(box_mesh({2, 1, 1}, 1), {variable("m_a")});
  Files files;
  const std::vector<std::string> none;
  ResultCatcher caught(files, none, true);
  DataSet::Array whole = array("m_a", {2}, 2);
  caught.add("x.h5", DataSet{{array("a", {2}, 2), whole}});
  std::fill(caught.arrays[0].values.begin(), caught.arrays[0].values.end(), std::byte{0});
  CHECK(values_of<double>(made_block(caught, metadata.meshes[0], metadata), 0) == std::vector<double>{0, 1});
}

TEST_CASE("arrays that do not fit are refused with both shapes") {
  const Metadata metadata = with_mesh(box_mesh({4, 3, 2}, 3), {variable("m_a")});
  Files files;
  const std::vector<std::string> none;
  ResultCatcher turned(files, none, true);
  turned.add("x.h5", DataSet{{array("a", {4, 3, 2}, 24)}});
  CHECK(message_of(turned, metadata).find("the shape (4, 3, 2) and the type float64, expected (2, 3, 4)") !=
        std::string::npos);
  ResultCatcher other(files, none, true);
  other.add("x.h5", DataSet{{array("q", {2, 3, 4}, 24)}});
  CHECK(message_of(other, metadata).find("has the arrays q, expected some of a,") != std::string::npos);
}

TEST_CASE("a surface becomes triangles and lines with data at points") {
  Mesh mesh;
  mesh.geometry = std::make_shared<ArrayGeometry>(MeshKind::unstructured);
  const Metadata metadata =
      with_mesh(mesh, {variable("m_coordinates", nodes_of(3), 3, Role::coordinates),
                       variable("m_connectivity", {}, 1, Role::connectivity, Type::int64),
                       variable("m_offsets", {}, 1, Role::offsets, Type::int64),
                       variable("m_types", {}, 1, Role::types, Type::uint8), variable("m_t", nodes_of(3)),
                       variable("m_n", nodes_of(3), 3), variable("m_size")});
  Surface surface;
  surface.points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {5, 5, 5}};
  surface.triangles = {{0, 1, 2}};
  surface.lines = {{2, 3}};
  surface.point_data = {{"t", 1, {1, 2, 3, 4}}, {"n", 3, std::vector<double>(12, 0.5)}};
  Files files;
  const std::vector<std::string> named{"s.vtp"};
  ResultCatcher caught(files, named, true);
  caught.add("s.vtp", surface);
  CHECK(files.count == 1);  // the configuration names the file
  const MadeBlock made = made_block(caught, metadata.meshes[0], metadata);
  CHECK(made.block.lengths.points == 4);
  CHECK(made.block.lengths.corners == 5);
  CHECK(made.block.cells.hi[0] == 2);
  CHECK(values_of<std::int64_t>(made, 1) == std::vector<std::int64_t>{0, 1, 2, 2, 3});
  CHECK(values_of<std::int64_t>(made, 2) == std::vector<std::int64_t>{3, 5});
  CHECK(values_of<std::uint8_t>(made, 3) == std::vector<std::uint8_t>{5, 3});
  CHECK(values_of<double>(made, 4) == std::vector<double>{1, 2, 3, 4});
  CHECK(values_of<double>(made, 0).size() == 12);
  CHECK(values_of<double>(made, 6) == std::vector<double>{0.5, std::sqrt(25.0 + 16.0 + 25.0)});
  CHECK_THROWS_AS(caught.add("s.vtp", surface), Error);  // two results of one form
}

TEST_CASE("the columns x, y and z of a table are places of points") {
  Mesh mesh;
  mesh.dimensions = 2;
  mesh.geometry = std::make_shared<ArrayGeometry>(MeshKind::points);
  const Metadata metadata =
      with_mesh(mesh, {variable("m_coordinates", nodes_of(2), 2, Role::coordinates), variable("m_mass")});
  Files files;
  const std::vector<std::string> none;
  ResultCatcher caught(files, none, true);
  const std::vector<Column> columns{{"y", std::vector<double>{3, 4}},
                                    {"name", std::vector<std::string>{"a", "b"}},
                                    {"mass", std::vector<std::int64_t>{7, 8}},
                                    {"x", std::vector<double>{1, 2}}};
  caught.add("t.csv", Table(columns));
  const MadeBlock made = made_block(caught, metadata.meshes[0], metadata);
  CHECK(values_of<double>(made, 0) == std::vector<double>{1, 3, 2, 4});
  CHECK(values_of<double>(made, 1) == std::vector<double>{7, 8});
  ResultCatcher without(files, none, true);
  without.add("t.csv", Table({{"x", std::vector<double>{1}}}));
  CHECK(message_of(without, metadata).find("expected the places of points") != std::string::npos);
}
