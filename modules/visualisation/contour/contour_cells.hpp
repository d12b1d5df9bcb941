// The contour kernel for lists of cells: triangles where a number at points passes a value, in tetrahedra, voxels,
// hexahedra, wedges, pyramids and polyhedra; lines in triangles, pixels, quadrilaterals and polygons.
//
// A point is inside where its number >= the value; the shapes are in cell_shapes.hpp. A vertex lies on the edge between
// two points, at a + t (b - a) with a the end of the lower name, and is named by both. Blocks that number their points
// consistently (point_ids) agree bit by bit, if they have the same values there, and the surface is closed across them.
#pragma once

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

}  // namespace sidestream
