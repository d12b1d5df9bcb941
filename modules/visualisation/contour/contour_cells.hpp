// The contour kernel for lists of cells: triangles or lines where a number at points passes a value.
//
// Triangles come from tetrahedra, voxels, hexahedra, wedges, pyramids and polyhedra, lines from triangles, pixels,
// quadrilaterals and polygons. The shapes are in cell_shapes.hpp. A point is inside where its number >= the value.
//
// A vertex lies on the edge between two points, at a + t (b - a) with a the end of the lower name, and is named by
// both. Blocks that number their points consistently (point_ids) agree bit by bit, if they have the same values there,
// and the surface is closed across them. CellVertices has the identity, positions and values of vertices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sidestream/extend/options.hpp"
#include "visualisation/contour/contour.hpp"
#include "visualisation/mesh/cells/cell_list.hpp"

namespace sidestream {

/// A component of a variable in one block; empty: not delivered, NaN everywhere.
struct CellField {
  Centering centering = Centering::cell;
  std::vector<double> values;
};

/// All components of some variables, in order.
[[nodiscard]] std::vector<CellField> cell_fields(const std::vector<std::int32_t>& variables, const LocalInput& input,
                                                 const Block& block, const CellList& list);

/// A request to contour one block.
struct CellContour {
  const CellList& list;
  std::vector<double> numbers;  ///< one per point
  /// Fields that are interpolated to the vertices. If one of them lies in cells, every cell has vertices of its own,
  /// with its value.
  std::vector<CellField> fields{};
  double period = 0;             ///< of fields that are interpolated the shorter way round; 0: they have none
  std::vector<double> slopes{};  ///< three per point, for normals; empty: there are none
  bool reverse = false;          ///< reverse the triangles and lines
  bool merge_at_points = false;  ///< as in ContourRequest
  /// Orientation of all cells, if known; otherwise it is computed from their corners.
  std::optional<bool> mirrored{};
};

/// Up to two pieces for each of `values`: one of triangles and one of lines. Cells with a point whose number is not
/// finite have neither. Lines in cells of a two-dimensional mesh have lower numbers on their right.
[[nodiscard]] std::vector<Piece> contour_cells(const CellContour& request, std::span<const double> values);

/// The two-dimensional cells as triangles, with the fields at their points. On a two-dimensional mesh they are
/// counter-clockwise seen from above, or with `reverse` from below. The numbers are ignored.
[[nodiscard]] Piece all_flat_cells(const CellContour& request);

/// Throws Error(configuration) unless a variable on an unstructured mesh lies at its points.
void require_points(const Settings& settings, const std::string& option, const Variable& variable, const Mesh& mesh);

/// Makes the vertices of one piece.
class CellVertices {
 public:
  /// Keeps references.
  CellVertices(const CellContour& request, Piece& piece);
  /// Begins a cell. The following vertices belong to it.
  void enter(std::size_t cell);
  /// The vertex at the value on the edge between two points, or at a point.
  std::int64_t between(std::size_t p, std::size_t q, double value);
  std::int64_t at(std::size_t point) { return vertex(point, point, 0); }
  /// Adds a triangle or a line of the cell.
  template <class Cell, class Cells>
  void add(const Cell& corners, Cells& to) {
    to.push_back(corners);
    piece_.cells.push_back(cell_key(corners));
  }
  /// Computes the fields of the vertices.
  void finish();
  [[nodiscard]] Piece& piece() noexcept { return piece_; }

 private:
  struct Vertex {
    std::size_t a, b;  ///< points, the one of the lower name first
    double t;
    std::size_t cell;
    std::int64_t next;  ///< next vertex with the same first point, -1: none
  };
  std::int64_t vertex(std::size_t a, std::size_t b, double t);
  [[nodiscard]] std::int64_t find(std::size_t a, std::size_t b) const noexcept;  ///< -1: there is none yet
  std::int64_t add_vertex(std::size_t a, std::size_t b, double t);
  [[nodiscard]] std::array<double, 3> normal_at(const Vertex& v) const;
  template <class Cell>
  [[nodiscard]] std::int64_t cell_key(const Cell& corners) const {
    if (name_) return *name_;
    std::int64_t least = piece_.keys[static_cast<std::size_t>(corners[0])];
    for (const std::int64_t v : corners) least = std::min(least, piece_.keys[static_cast<std::size_t>(v)]);
    return least;
  }

  const CellContour& request_;
  Piece& piece_;
  const bool apart_;  ///< every cell has vertices of its own
  std::size_t cell_ = 0;
  std::optional<std::int64_t> name_;
  std::int64_t part_ = 0;
  std::size_t first_ = 0;  ///< first vertex of the cell, if they are apart
  /// For each point the last vertex that begins at it, -1: none. Points of a cell are near each other in most lists, so
  /// that this lookup is faster than a hash table.
  std::vector<std::int64_t> last_;
  std::vector<Vertex> vertices_;
};

}  // namespace sidestream
