#include "climate/cf/cf_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

/// A VTK type of cell by its corners. Further points of a type, in the middles of edges and faces, follow the corners.
struct Shape {
  std::uint8_t type;
  std::int32_t dimensions;
  int corners;  ///< 0: all points of the cell are corners
};
constexpr std::array<Shape, 18> shapes{{{3, 1, 2},
                                        {5, 2, 3},
                                        {7, 2, 0},
                                        {8, 2, 4},
                                        {9, 2, 4},
                                        {10, 3, 4},
                                        {11, 3, 8},
                                        {12, 3, 8},
                                        {13, 3, 6},
                                        {14, 3, 5},
                                        {21, 1, 2},
                                        {22, 2, 3},
                                        {23, 2, 4},
                                        {24, 3, 4},
                                        {25, 3, 8},
                                        {26, 3, 6},
                                        {27, 3, 5},
                                        {28, 2, 4}}};
constexpr std::uint8_t pixel = 8, voxel = 11;  ///< their corners are in the order of x, y, z, not around faces
constexpr std::uint8_t polyhedron = 42;

std::int64_t number_at(const BlockView& view, Index at) {
  return with_type(view.array.type,
                   [&](auto zero) { return static_cast<std::int64_t>(*view.array.at<decltype(zero)>(at, 0, 0)); });
}

/// The arrays with the cells of a block.
struct Cells {
  Cells(const LocalInput& input, const Mesh& mesh, std::int64_t id)
      : corners(input.find(mesh.array(Role::connectivity), id)),
        ends(input.find(mesh.array(Role::offsets), id)),
        types(input.find(mesh.array(Role::types), id)) {}
  [[nodiscard]] bool complete() const { return corners != nullptr && ends != nullptr && types != nullptr; }
  [[nodiscard]] Index count() const { return types->points.extent(0); }
  [[nodiscard]] Index begin(Index cell) const { return cell == 0 ? 0 : number_at(*ends, cell - 1); }

  const BlockView *corners, *ends, *types;
};

const Shape& shape_of(const Cells& cells, Index cell, const Mesh& mesh, std::int64_t id) {
  const std::int64_t type = number_at(*cells.types, cell);
  const auto found = std::find_if(shapes.begin(), shapes.end(), [&](const Shape& one) { return one.type == type; });
  if (found != shapes.end()) return *found;
  fail(Code::analysis,
       "cell {} of block {} of the mesh '{}' is of VTK's type {}{}, which the UGRID conventions do not have; write the "
       "mesh with the output 'hdf5' or 'vtk'",
       cell, id, mesh.name, type, type == polyhedron ? " (a polyhedron)" : "");
}

/// Checks the points of a cell in the connectivity, of which UGRID gets the first `corners`.
void check_points(const Cells& cells, Index cell, Index corners, Index points, const Mesh& mesh, std::int64_t id) {
  const Index begin = cells.begin(cell), end = number_at(*cells.ends, cell), all = cells.corners->points.extent(0);
  if (begin < 0 || end > all || end - begin < std::max<Index>(corners, 1)) {
    fail(Code::analysis,
         "cell {} of block {} of the mesh '{}' has the entries {} to {} of {} of its connectivity, "
         "expected {} or more; correct the offsets",
         cell, id, mesh.name, begin, end, all, std::max<Index>(corners, 1));
  }
  for (Index at = begin; at < end; ++at) {
    const std::int64_t point = number_at(*cells.corners, at);
    if (point >= 0 && point < points) continue;
    fail(Code::analysis,
         "entry {} of the connectivity of block {} of the mesh '{}' is point {}, but it has the points "
         "0 to {}; count them from 0",
         at, id, mesh.name, point, points - 1);
  }
}

}  // namespace

void scan_cells(const LocalInput& input, const Mesh& mesh, CfBlock& block) {
  const Cells cells(input, mesh, block.id);
  if (!cells.complete()) return;
  for (Index cell = 0; cell < cells.count(); ++cell) {
    const Shape& shape = shape_of(cells, cell, mesh, block.id);
    check_points(cells, cell, shape.corners, block.points, mesh, block.id);
    const Index corners = shape.corners > 0 ? shape.corners : number_at(*cells.ends, cell) - cells.begin(cell);
    block.dimensions = std::max(block.dimensions, shape.dimensions);
    block.most = std::max(block.most, corners);
    block.least = std::min(block.least, corners);
  }
}

std::vector<std::int32_t> rows_of_cells(const LocalInput& input, const Mesh& mesh, std::int64_t block, Index width,
                                        Index first) {
  const Cells cells(input, mesh, block);
  if (!cells.complete()) return {};
  std::vector<std::int32_t> rows(static_cast<std::size_t>(cells.count() * width), -1);
  for (Index cell = 0; cell < cells.count(); ++cell) {
    const Shape& shape = shape_of(cells, cell, mesh, block);
    const Index begin = cells.begin(cell);
    const Index corners = shape.corners > 0 ? shape.corners : number_at(*cells.ends, cell) - begin;
    std::int32_t* row = rows.data() + cell * width;
    for (Index n = 0; n < corners; ++n)
      row[n] = static_cast<std::int32_t>(first + number_at(*cells.corners, begin + n));
    if (shape.type == pixel || shape.type == voxel) std::swap(row[2], row[3]);
    if (shape.type == voxel) std::swap(row[6], row[7]);
  }
  return rows;
}

}  // namespace sidestream
