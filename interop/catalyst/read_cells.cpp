// Cells of unstructured topologies: one shape for all, mixed shapes, polygons and polyhedra.
//
// Sidestream wants, for each cell, VTK's type, where its points end in the connectivity and, for polyhedra, its faces
// as VTK's files have them. Blueprint has each cell's size and offset in a connectivity that may have gaps, and
// polyhedra as lists of faces, which are polygons in a second topology (`subelements`). So lists are made anew, cell by
// cell.
#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "read_mesh.hpp"

namespace sidestream::catalyst {

namespace {

constexpr std::uint8_t polygon_type = 7, polyhedron_type = 42;

/// Shapes whose number of points is fixed, and VTK's number.
struct Shape {
  std::string_view name;
  std::uint8_t type;
  Index points;
};
constexpr std::array<Shape, 8> shapes{{{"point", 1, 1},
                                       {"line", 3, 2},
                                       {"tri", 5, 3},
                                       {"quad", 9, 4},
                                       {"tet", 10, 4},
                                       {"hex", 12, 8},
                                       {"wedge", 13, 6},
                                       {"pyramid", 14, 5}}};

/// Lists of entries: the entries of item i begin at offset(i) and are size(i) many.
struct Ragged {
  Node node;
  Numbers entries, sizes, offsets;

  explicit Ragged(const Node& elements)
      : node(elements),
        entries(elements.need("connectivity").numbers()),
        sizes(elements.need("sizes").numbers()),
        offsets(elements.need("offsets").numbers()) {
    if (sizes.count != offsets.count) {
      fail_node(elements, "found " + std::to_string(sizes.count) + " sizes and " + std::to_string(offsets.count) +
                              " offsets, expected as many");
    }
  }
  /// First entry and number of entries of an item, checked.
  [[nodiscard]] std::pair<Index, Index> range(Index item) const {
    const Index size = sizes.integer(item), begin = offsets.integer(item);
    if (size < 0 || begin < 0 || begin > entries.count || size > entries.count - begin) {
      fail_node(node, "item " + std::to_string(item) + " has the entries from " + std::to_string(begin) + ", " +
                          std::to_string(size) + " of them, expected entries below " + std::to_string(entries.count));
    }
    return {begin, size};
  }
};

void read_one_shape(const Node& elements, const Shape& shape, CellLists& lists) {
  const Node node = elements.need("connectivity");
  const Numbers links = node.numbers();
  if (links.count % shape.points != 0) {
    fail_node(node, "found " + std::to_string(links.count) + " entries, expected a multiple of " +
                        std::to_string(shape.points));
  }
  const Index cells = links.count / shape.points;
  lists.types.assign(static_cast<std::size_t>(cells), shape.type);
  lists.connectivity.reserve(static_cast<std::size_t>(links.count));
  for (Index i = 0; i < links.count; ++i) lists.connectivity.push_back(links.integer(i));
  for (Index c = 1; c <= cells; ++c) lists.offsets.push_back(c * shape.points);
}

/// Appends the points of a cell that lists them.
void add_points(const Ragged& cells, Index cell, CellLists& lists) {
  const auto [begin, size] = cells.range(cell);
  for (Index i = 0; i < size; ++i) lists.connectivity.push_back(cells.entries.integer(begin + i));
}

/// Appends the faces of a polyhedron, and each of its points once, in the order in which the faces name them.
void add_polyhedron(const Ragged& cells, Index cell, const Ragged& polygons, CellLists& lists) {
  const auto [begin, size] = cells.range(cell);
  const auto first = static_cast<std::ptrdiff_t>(lists.connectivity.size());
  lists.faces.push_back(size);
  for (Index f = 0; f < size; ++f) {
    const std::int64_t face = cells.entries.integer(begin + f);
    if (face < 0 || face >= polygons.sizes.count) {
      fail_node(cells.node, "cell " + std::to_string(cell) + " has the face " + std::to_string(face) +
                                ", expected 0 to " + std::to_string(polygons.sizes.count - 1));
    }
    const auto [from, points] = polygons.range(face);
    lists.faces.push_back(points);
    for (Index i = 0; i < points; ++i) {
      const std::int64_t point = polygons.entries.integer(from + i);
      lists.faces.push_back(point);
      if (std::find(lists.connectivity.begin() + first, lists.connectivity.end(), point) == lists.connectivity.end()) {
        lists.connectivity.push_back(point);
      }
    }
  }
}

/// Reads cells with a size and an offset each. `type` gives VTK's number of a cell.
template <class TypeOf>
void read_ragged(const Node& topology, const Node& elements, const TypeOf& type, CellLists& lists) {
  const Ragged cells(elements);
  std::optional<Ragged> polygons;
  for (Index c = 0; c < cells.sizes.count; ++c) {
    const std::uint8_t of = type(c);
    lists.types.push_back(of);
    if (of != polyhedron_type) {
      add_points(cells, c, lists);
      lists.face_offsets.push_back(-1);
    } else {
      if (!polygons) polygons.emplace(topology.need("subelements"));
      add_polyhedron(cells, c, *polygons, lists);
      lists.face_offsets.push_back(static_cast<std::int64_t>(lists.faces.size()));
    }
    lists.offsets.push_back(static_cast<std::int64_t>(lists.connectivity.size()));
  }
  if (!polygons) lists.face_offsets.clear();
}

void read_mixed(const Node& topology, const Node& elements, CellLists& lists) {
  const Node node = elements.need("shapes");
  const Numbers given = node.numbers();
  const Index sizes = elements.need("sizes").numbers().count;
  if (given.count != sizes) {
    fail_node(node, "found " + std::to_string(given.count) + " shapes, expected one for each of the " +
                        std::to_string(sizes) + " sizes");
  }
  std::vector<std::int64_t> known;
  for (const auto& [name, value] : elements.need("shape_map").children()) known.push_back(value.integer());
  const auto type = [&](Index cell) {
    const std::int64_t of = given.integer(cell);
    if (std::find(known.begin(), known.end(), of) == known.end() || of < 0 || of > 255) {
      fail_node(node, "cell " + std::to_string(cell) + " has the shape " + std::to_string(of) +
                          ", which is not in the shape_map");
    }
    return static_cast<std::uint8_t>(of);
  };
  read_ragged(topology, elements, type, lists);
}

}  // namespace

void read_cells(const Node& topology, MeshPiece& piece) {
  const Node elements = topology.need("elements");
  const Node node = elements.need("shape");
  const std::string shape = node.text();
  if (shape == "mixed") {
    read_mixed(topology, elements, piece.lists);
  } else if (shape == "polygonal" || shape == "polyhedral") {
    const std::uint8_t type = shape == "polygonal" ? polygon_type : polyhedron_type;
    read_ragged(
        topology, elements, [type](Index) { return type; }, piece.lists);
  } else {
    const auto* const found =
        std::find_if(shapes.begin(), shapes.end(), [&](const Shape& s) { return s.name == shape; });
    if (found == shapes.end()) {
      fail_node(node, "found '" + shape + "', expected point, line, tri, quad, tet, hex, wedge, pyramid, polygonal, " +
                          "polyhedral or mixed");
    }
    read_one_shape(elements, *found, piece.lists);
  }
  piece.list_cells = static_cast<Index>(piece.lists.types.size());
  const auto wrong = std::find_if(piece.lists.connectivity.begin(), piece.lists.connectivity.end(),
                                  [&](std::int64_t point) { return point < 0 || point >= piece.points; });
  if (wrong == piece.lists.connectivity.end()) return;
  fail_node(elements, "found the point " + std::to_string(*wrong) + ", expected 0 to " +
                          std::to_string(piece.points - 1) + ", the points of the coordinates");
}

}  // namespace sidestream::catalyst
