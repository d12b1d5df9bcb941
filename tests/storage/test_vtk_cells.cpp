// Lists of cells that contradict themselves must not reach a reader, which would read other memory.
#include <doctest/doctest.h>

#include <deque>

#include "sidestream/error.hpp"
#include "storage/formats/vtk_block.hpp"
#include "storage/support/sample.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// A polyhedron, a tetrahedron and a triangle over five points, which tests change.
struct Cells {
  std::vector<std::int64_t> links{0, 1, 2, 3, 1, 2, 3, 4, 0, 1, 2};
  std::vector<std::int64_t> ends{4, 8, 11};
  std::vector<std::uint8_t> types{42, 10, 5};
  std::vector<std::int64_t> faces{4, 3, 0, 1, 2, 3, 0, 1, 3, 3, 0, 2, 3, 3, 1, 2, 3};
  std::vector<std::int64_t> face_ends{17, -1, -1};
  std::vector<float> points = std::vector<float>(15, 0.5f);
  bool with_faces = true;
};

class Written {
 public:
  explicit Written(const Cells& cells) {
    mesh_.name = "hull";
    mesh_.geometry = std::make_shared<ArrayGeometry>(MeshKind::unstructured);
    block_.block.id = 7;
    block_.block.space = IndexSpace::list;
    block_.block.cells = list_box(static_cast<Index>(cells.types.size()));
    block_.block.lengths = {5, static_cast<Index>(cells.links.size()), static_cast<Index>(cells.faces.size())};
    add(Role::coordinates, Type::float32, 3, cells.points.data(), 5);
    add(Role::connectivity, Type::int64, 1, cells.links.data(), cells.links.size());
    add(Role::offsets, Type::int64, 1, cells.ends.data(), cells.ends.size());
    add(Role::types, Type::uint8, 1, cells.types.data(), cells.types.size());
    if (cells.with_faces) {
      add(Role::faces, Type::int64, 1, cells.faces.data(), cells.faces.size());
      add(Role::face_offsets, Type::int64, 1, cells.face_ends.data(), cells.face_ends.size());
    }
  }
  /// The message of writing; empty if it works.
  std::string message() {
    try {
      write_vtk_block("vtk-cells.vtu", mesh_, block_, {}, "", {0});
    } catch (const Error& error) {
      return error.what();
    }
    std::filesystem::remove("vtk-cells.vtu");
    return {};
  }

 private:
  void add(Role role, Type type, int components, const void* data, std::size_t count) {
    Variable& variable = variables_.emplace_back();
    variable.name = name_of(role);
    variable.type = type;
    variable.role = role;
    variable.centering = role == Role::coordinates ? Centering::node : Centering::cell;
    variable.components = components;
    BlockView& view = views_.emplace_back();
    view.block = block_.block;
    view.points = list_box(static_cast<Index>(count));
    view.array = {data,        type,       MemorySpace::host,
                  view.points, components, packed_strides(view.points, components, Order::column)};
    block_.arrays.push_back({&variable, &view});
  }
  Mesh mesh_;
  VtkBlock block_;
  std::deque<Variable> variables_;
  std::deque<BlockView> views_;
};

void check(const Cells& cells, const std::string& part) {
  const std::string said = Written(cells).message();
  CAPTURE(said);
  CHECK(said.find("block 7 of the mesh 'hull' cannot be written as VTK") != std::string::npos);
  CHECK(said.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("cells in order are written") { CHECK(Written({}).message().empty()); }

TEST_CASE("entries that point nowhere are refused by position") {
  Cells cells;
  cells.links[5] = 5;
  check(cells, "entry 5 of its connectivity is point 5, but it has the points 0 to 4");
  cells.links[5] = -1;
  check(cells, "entry 5 of its connectivity is point -1");
}

TEST_CASE("offsets must ascend to the end of the connectivity") {
  Cells cells;
  cells.ends = {4, 3, 11};
  check(cells, "the points of cell 1 end at entry 3 of its connectivity, before they begin at 4");
  cells.ends = {4, 8, 10};
  check(cells, "its offsets end at 10, but its connectivity has 11 entries");
}

TEST_CASE("polyhedra need faces that are whole") {
  Cells cells;
  cells.with_faces = false;
  check(cells, "cell 0 is a polyhedron (type 42), but there are no faces");
  cells = {};
  cells.face_ends = {-1, 17, -1};
  check(cells, "the face offset of cell 0 is -1");
  cells = {};
  cells.face_ends = {17, -1, 17};
  check(cells, "the face offset of cell 2 is 17; expected where the faces of a polyhedron end, and -1");
  cells = {};
  cells.face_ends[0] = 13;
  check(cells, "the faces of cell 0 do not end at 13");
  cells.face_ends[0] = 18;
  check(cells, "the faces of cell 0 do not end at 18");
  cells = {};
  cells.faces[16] = 6;
  check(cells, "entry 16 of its faces is point 6");
  cells = {};
  cells.faces[9] = -2;
  check(cells, "entry 9 of its faces is -2, expected a number of points");
  cells = {};
  cells.faces.push_back(1);
  check(cells, "its faces go on at entry 17");
  cells = {};
  cells.faces.resize(12);
  check(cells, "its faces end before those of cell 0");
}

TEST_CASE("faces of blocks without polyhedra are not looked at") {
  Cells cells;
  cells.types[0] = 10;
  cells.faces = {99};
  cells.face_ends = {1, 1, 1};
  CHECK(Written(cells).message().empty());
}
