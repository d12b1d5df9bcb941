// Queries for surfaces, as configured, and the resulting pieces on one server. Shared by the analyses slice and
// isosurface and by the renderer.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/analysis/empty_results.hpp"
#include "sidestream/kit/mesh/cell_choice.hpp"
#include "visualisation/contour/contour.hpp"
#include "visualisation/contour/row_normals.hpp"
#include "visualisation/contour/surface.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream {

/// Isosurfaces of one component of a variable.
struct IsosurfaceQuery {
  std::int32_t variable = -1;
  int component = 0;
  std::vector<double> values;
  std::vector<std::int32_t> fields;  ///< further variables at the vertices, with all components
  double period = 0;                 ///< of fields that are interpolated the shorter way round; 0: they have none
  bool normals = true;
  /// For lists of cells: the variable lies in cells, and the surface uses its means at points.
  bool averaged = false;
  bool in_lists = false;
  /// True for trees and refinement levels, whose surfaces level_surfaces.hpp extracts.
  bool in_levels = false;
  bool single = false;  ///< points and normals in single precision
  CellChoice choice{};  ///< choice of the points between which surfaces are extracted: cells, or nodes of meshes with
                        ///< axes
};

/// In lists of cells, means at points and slopes need contributions of other blocks, which earlier passes collect. In
/// such a pass `local` returns `seams` and `combine` returns `joined`. `found`: results of earlier passes, which it
/// updates.
[[nodiscard]] int passes_of(const IsosurfaceQuery& query);
[[nodiscard]] Bytes seams(const IsosurfaceQuery& query, const LocalInput& input);
[[nodiscard]] Bytes joined(const IsosurfaceQuery& query, const CombineInput& input, Bytes& found);

/// A plane through a mesh, with variables on it.
struct SliceQuery {
  std::vector<std::int32_t> variables;  ///< with all components; the centring of the first decides the points
  Plane plane;
  bool single = false;  ///< in files, points in single precision
  bool own = false;  ///< true: each cell has its own value (extract_cellwise); false: values are linear between points
  bool edges = false;  ///< also extract the outlines of cells as lines
  double period = 0;   ///< of variables that are interpolated the shorter way round; 0: they have none
  CellChoice choice{};
};

/// Use of the pieces. Images need neither `fields` nor `normals`, which are only written to files.
enum class Purpose { surface, picture };

/// Options of the queries, without a file name, and their checked values. The readers throw Error(configuration).
[[nodiscard]] std::vector<Option> isosurface_options(Purpose purpose = Purpose::surface);
[[nodiscard]] IsosurfaceQuery read_isosurface(const Settings& settings, const Metadata& metadata,
                                              Purpose purpose = Purpose::surface);
[[nodiscard]] std::vector<Option> slice_options(Purpose purpose = Purpose::surface);
[[nodiscard]] SliceQuery read_slice(const Settings& settings, const Metadata& metadata,
                                    Purpose purpose = Purpose::surface);

[[nodiscard]] Selection selection_of(const IsosurfaceQuery& query, const Metadata& metadata);
[[nodiscard]] Selection selection_of(const SliceQuery& query, const Metadata& metadata);

/// Pieces of this server's blocks: for each block one for each value (layer = index of the value), or one for the plane
/// (layer 0). Data: for isosurfaces the components of `fields` in order; for slices those of `variables`.
[[nodiscard]] std::vector<Piece> extract(const IsosurfaceQuery& query, const LocalInput& input);
[[nodiscard]] std::vector<Piece> extract(const SliceQuery& query, const LocalInput& input);

/// True if isosurfaces can be extracted in rows: in meshes of three dimensions whose blocks are boxes.
[[nodiscard]] bool extracts_by_rows(const IsosurfaceQuery& query, const Metadata& metadata);
/// Extracts the isosurfaces of this server's blocks, block after block, without keeping them: the object that `make`
/// returns for a value receives the rows of one box of cells. Blocks with axes are cut into small boxes, in ascending
/// order of `distance` of their middle. Without `fields`.
void extract_rows(const IsosurfaceQuery& query, const LocalInput& input,
                  const std::function<double(const std::array<double, 3>&)>& distance,
                  const std::function<std::unique_ptr<ContourRows>(std::size_t value)>& make);

/// Sources of all components of some variables in one block, in order.
class AttributeSources {
 public:
  /// Keeps references to the grid and the input.
  AttributeSources(const PointGrid& grid, const std::vector<std::int32_t>& variables, std::int64_t block,
                   const LocalInput& input);
  [[nodiscard]] std::span<ScalarSource* const> pointers() const noexcept { return pointers_; }

 private:
  std::vector<std::unique_ptr<FieldSource>> sources_;
  std::vector<ScalarSource*> pointers_;
};

/// Coordinates of a block's nodes or points, or null if they are not on this server.
[[nodiscard]] const BlockView* coordinates_of(const Mesh& mesh, const LocalInput& input, const BlockView& of);

/// Flags of a block's cells (role cell_ghosts), or null.
[[nodiscard]] const BlockView* flags_of(const Mesh& mesh, const LocalInput& input, const BlockView& of);

/// Collective: the reason why some of the values, by index, have no surface, or why a slice is empty.
[[nodiscard]] std::string why_empty(const IsosurfaceQuery& query, const std::vector<std::size_t>& values,
                                    const SeenValues& seen, const CombineInput& input);
[[nodiscard]] std::string why_empty(const SliceQuery& query, const CombineInput& input);

/// Layout of Piece::data.
[[nodiscard]] std::vector<AttributeLayout> layout_of_variables(const std::vector<std::int32_t>& variables,
                                                               const Metadata& metadata);
[[nodiscard]] std::vector<AttributeLayout> layout_of(const IsosurfaceQuery& query, const Metadata& metadata);
[[nodiscard]] std::vector<AttributeLayout> layout_of(const SliceQuery& query, const Metadata& metadata);

// Slices on which each cell has its own value, for octrees and meshes with axes, on all refinement levels.

/// Blocks with chosen cells that the plane may meet.
[[nodiscard]] Part cellwise_slice_part(const SliceQuery& query, const Mesh& mesh);

/// Section of the plane with this server's blocks: for each counted cell a polygon in triangles (a line on meshes of
/// two dimensions). With `edges` also its outline in lines, in a separate piece with the same points. Cells do not
/// share points. Trees are descended from their roots, and subtrees that the plane does not meet are skipped.
[[nodiscard]] std::vector<Piece> extract_cellwise(const SliceQuery& query, const LocalInput& input);

}  // namespace sidestream
