// Blocks made of results. Data sets fill the cells of uniform and rectilinear meshes: the last axis of an array is x.
// Surfaces and sets of cells become lists of points and cells. Points come from a surface, or from the columns x, y and
// z of a table.
#include "session/made/made_block.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "config/tasks/made_meshes.hpp"
#include "data/mesh_arrays.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

constexpr std::uint8_t vtk_line = 3, vtk_triangle = 5;

template <class T>
Bytes bytes_of_all(const std::vector<T>& values) {
  const BytesView view = std::as_bytes(std::span(values));
  return {view.begin(), view.end()};
}

using Place = std::array<double, 3>;

Place difference(const Place& a, const Place& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

double size_of(const std::array<std::int64_t, 2>& line, const std::vector<Place>& points) {
  const Place d =
      difference(points.at(static_cast<std::size_t>(line[1])), points.at(static_cast<std::size_t>(line[0])));
  return std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}
double size_of(const std::array<std::int64_t, 3>& triangle, const std::vector<Place>& points) {
  const Place& first = points.at(static_cast<std::size_t>(triangle[0]));
  const Place u = difference(points.at(static_cast<std::size_t>(triangle[1])), first);
  const Place v = difference(points.at(static_cast<std::size_t>(triangle[2])), first);
  const Place n{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  return 0.5 * std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

/// Makes the block of one result.
class Builder {
 public:
  Builder(const Mesh& mesh, const Metadata& metadata) : mesh_(mesh), metadata_(metadata) {}

  void add_data(std::vector<DataSet::Array>& arrays);
  void add_surface(const Surface& surface);
  void add_cells(const CellSet& cells);
  void add_points(const Surface& surface);
  void add_points(const Table& table);
  [[nodiscard]] MadeBlock take() { return std::move(made_); }

 private:
  void add_array(DataSet::Array& array, const Variable& variable);
  [[nodiscard]] Box box_of(const DataSet::Array& array, const Variable& variable) const;
  void put(Role role, Bytes values) { made_.arrays.push_back({mesh_.array(role), std::move(values)}); }
  void put_places(const std::vector<std::array<double, 3>>& places);
  void put_data(const std::vector<Surface::Array>& arrays, bool in_cells);
  void set_lists(std::size_t points, std::size_t cells, std::size_t corners);
  template <class Each>
  void for_each_variable(Each&& each) const {
    for (const Variable& variable : metadata_.variables) {
      if (variable.mesh == mesh_.id && !variable.derived() && variable.role == Role::none)
        each(variable, array_of(variable, mesh_));
    }
  }

  const Mesh& mesh_;
  const Metadata& metadata_;
  MadeBlock made_;
};

/// The cells of a part of an array. Extents are the mesh's, slowest first, followed by the components.
Box Builder::box_of(const DataSet::Array& array, const Variable& variable) const {
  const Box all = variable.points(mesh_.cells);
  const auto dimensions = static_cast<std::size_t>(mesh_.dimensions);
  std::vector<Index> expected;
  for (std::size_t a = dimensions; a-- > 0;) expected.push_back(all.hi[a] - all.lo[a]);
  if (variable.components > 1) expected.push_back(variable.components);
  const bool last_whole = variable.components == 1 || array.size.empty() || array.size.back() == variable.components;
  if (array.extents != expected || array.type != variable.type || !last_whole) {
    fail(
        Code::analysis,
        "the array '{}' of its result has the shape ({}) and the type {}, expected ({}) and {}, as the mesh '{}' and its "
        "variable '{}' are declared",
        array.name, fmt::join(array.extents, ", "), name_of(array.type), fmt::join(expected, ", "),
        name_of(variable.type), mesh_.name, variable.name);
  }
  Box box = all;
  for (std::size_t a = 0; a < dimensions; ++a) {
    const std::size_t axis = dimensions - 1 - a;
    const Index start = array.start.empty() ? 0 : array.start[axis];
    const Index size = array.size.empty() ? array.extents[axis] : array.size[axis];
    box.lo[a] = all.lo[a] + start;
    box.hi[a] = box.lo[a] + size;
  }
  return box;
}

void Builder::add_array(DataSet::Array& array, const Variable& variable) {
  const Box box = box_of(array, variable);
  if (box.empty()) return;
  Box cells = box;
  for (std::size_t a = 0; a < 3; ++a) cells.hi[a] -= at_nodes(variable.centering, static_cast<int>(a)) ? 1 : 0;
  if (!made_.arrays.empty() && made_.block.cells != cells) {
    fail(Code::analysis, "the array '{}' of its result covers other cells than those before it, expected the same",
         array.name);
  }
  made_.block.cells = cells;
  made_.arrays.push_back({variable.id, std::move(array.values)});
}

void Builder::add_data(std::vector<DataSet::Array>& arrays) {
  std::vector<std::string> wanted;
  bool found = false;
  for_each_variable([&](const Variable& variable, const std::string& name) {
    wanted.push_back(name);
    const auto named = [&](const std::string& text) {
      return std::find_if(arrays.begin(), arrays.end(), [&](const auto& one) { return one.name == text; });
    };
    auto array = named(variable.name);  // declared in the configuration
    if (array == arrays.end()) array = named(name);
    if (array == arrays.end()) return;
    found = true;
    add_array(*array, variable);
  });
  if (found || arrays.empty()) return;
  std::vector<std::string> given;
  for (const DataSet::Array& array : arrays) given.push_back(array.name);
  fail(Code::analysis, "its result has the arrays {}, expected some of {}, the variables of the mesh '{}'",
       listed(given), listed(wanted), mesh_.name);
}

void Builder::set_lists(std::size_t points, std::size_t cells, std::size_t corners) {
  made_.block.space = IndexSpace::list;
  made_.block.cells = list_box(static_cast<Index>(cells));
  made_.block.lengths = {static_cast<Index>(points), static_cast<Index>(corners), 0};
}

void Builder::put_places(const std::vector<std::array<double, 3>>& places) {
  std::vector<double> coordinates;
  coordinates.reserve(places.size() * static_cast<std::size_t>(mesh_.dimensions));
  for (const std::array<double, 3>& place : places) {
    coordinates.insert(coordinates.end(), place.begin(), place.begin() + mesh_.dimensions);
  }
  put(Role::coordinates, bytes_of_all(coordinates));
}

void Builder::put_data(const std::vector<Surface::Array>& arrays, bool in_cells) {
  for_each_variable([&](const Variable& variable, const std::string& name) {
    if ((variable.centering == Centering::cell) != in_cells) return;
    for (const Surface::Array& array : arrays) {
      if (array.name != name || array.components != variable.components) continue;
      made_.arrays.push_back({variable.id, bytes_of_all(array.values)});
      return;
    }
  });
}

void Builder::add_surface(const Surface& surface) {
  std::vector<std::int64_t> corners, ends;
  std::vector<std::uint8_t> types;
  std::vector<double> sizes;
  const auto add = [&](const auto& cells, std::uint8_t type) {
    for (const auto& cell : cells) {
      corners.insert(corners.end(), cell.begin(), cell.end());
      ends.push_back(static_cast<std::int64_t>(corners.size()));
      types.push_back(type);
      sizes.push_back(size_of(cell, surface.points));
    }
  };
  add(surface.triangles, vtk_triangle);
  add(surface.lines, vtk_line);
  set_lists(surface.points.size(), types.size(), corners.size());
  put_places(surface.points);
  put(Role::connectivity, bytes_of_all(corners));
  put(Role::offsets, bytes_of_all(ends));
  put(Role::types, bytes_of_all(types));
  put_data(surface.point_data, false);
  put_data({{"size", 1, std::move(sizes)}}, true);
}

void Builder::add_cells(const CellSet& cells) {
  if (std::find(cells.types.begin(), cells.types.end(), vtk_polyhedron_type) != cells.types.end()) {
    fail(Code::analysis,
         "its result has polyhedra, which the mesh '{}' that it makes cannot have; write a file instead", mesh_.name);
  }
  set_lists(cells.points.size(), cells.types.size(), cells.links.size());
  put_places(cells.points);
  put(Role::connectivity, bytes_of_all(cells.links));
  put(Role::offsets, bytes_of_all(cells.ends));
  put(Role::types, bytes_of_all(cells.types));
  put_data(cells.point_data, false);
  put_data(cells.cell_data, true);
}

void Builder::add_points(const Surface& surface) {
  set_lists(surface.points.size(), surface.points.size(), 0);
  put_places(surface.points);
  put_data(surface.point_data, true);
}

/// The numbers of a column as reals.
std::vector<double> reals_of(const Column& column) {
  std::vector<double> numbers;
  if (const auto* const reals = std::get_if<std::vector<double>>(&column.values)) return *reals;
  if (const auto* const whole = std::get_if<std::vector<std::int64_t>>(&column.values)) {
    for (const std::int64_t one : *whole) numbers.push_back(static_cast<double>(one));
    return numbers;
  }
  fail(Code::analysis, "the column '{}' of its result has texts, expected numbers", column.name);
}

void Builder::add_points(const Table& table) {
  Surface points;
  points.points.resize(table.rows(), {0, 0, 0});
  const std::string axes = "xyz";
  int found = 0;
  for (const Column& column : table.columns()) {
    const bool is_text = std::holds_alternative<std::vector<std::string>>(column.values);
    if (is_text) continue;
    const auto axis = column.name.size() == 1 ? axes.find(column.name) : std::string::npos;
    std::vector<double> numbers = reals_of(column);
    if (axis < static_cast<std::size_t>(mesh_.dimensions)) {
      ++found;
      for (std::size_t n = 0; n < numbers.size(); ++n) points.points[n][axis] = numbers[n];
    } else {
      points.point_data.push_back({column.name, 1, std::move(numbers)});
    }
  }
  if (found < mesh_.dimensions) {
    fail(Code::analysis, "its result has the columns {}, expected the places of points in x, y and z",
         listed(table.names()));
  }
  add_points(points);
}

}  // namespace

MadeBlock made_block(ResultCatcher& caught, const Mesh& mesh, const Metadata& metadata) {
  Builder builder(mesh, metadata);
  if (mesh.axes() != nullptr) {
    const char* const other = caught.surface ? "a surface" : caught.cells ? "a set of cells" : "a table";
    if (caught.arrays.empty() && (caught.surface || caught.cells || caught.table)) {
      fail(Code::analysis, "its result is {}, expected arrays that fill the mesh '{}', which is {}", other, mesh.name,
           mesh.geometry->kind());
    }
    builder.add_data(caught.arrays);
  } else if (mesh.kind() == MeshKind::points) {
    if (caught.surface) builder.add_points(*caught.surface);
    if (caught.table && !caught.surface) builder.add_points(*caught.table);
  } else if (caught.surface) {
    builder.add_surface(*caught.surface);
  } else if (caught.cells) {
    builder.add_cells(*caught.cells);
  }
  return builder.take();
}

namespace {

/// The variable that an array fills: by its role if it is one of the mesh's own arrays, otherwise by its name.
std::int32_t filled_by(const std::string& name, const Mesh& mesh, const Metadata& metadata) {
  if (const std::optional<Role> role = role_named(name); role && mesh.array(*role) >= 0) return mesh.array(*role);
  for (const Variable& variable : metadata.variables) {
    const bool own = variable.mesh == mesh.id && !variable.derived() && variable.role == Role::none;
    if (own && array_of(variable, mesh) == name) return variable.id;
  }
  fail(Code::analysis, "its result has the array '{}', expected arrays and variables of the mesh '{}' only", name,
       mesh.name);
}

}  // namespace

std::vector<MadeBlock> made_blocks(std::vector<ResultBlock>& mine, const Mesh& mesh, const Metadata& metadata) {
  std::vector<MadeBlock> made;
  for (ResultBlock& block : mine) {
    MadeBlock& one = made.emplace_back(MadeBlock{block.block});
    one.block.mesh = mesh.id;
    for (ResultBlock::Array& array : block.arrays) {
      const std::int32_t id = filled_by(array.name, mesh, metadata);
      const std::uint64_t expected = bytes_of(metadata.variables.at(static_cast<std::size_t>(id)), block.block);
      if (array.values.size() != expected) {
        fail(Code::analysis, "its result has {} bytes of '{}' on block {}, expected {}", array.values.size(),
             array.name, block.block.id, expected);
      }
      one.arrays.push_back({id, std::move(array.values)});
    }
  }
  return made;
}

}  // namespace sidestream
