// What to extract, as stated in the configuration, and the pieces of it on one server. Shared by the analyses
// slice and isosurface and by the renderer.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/common/extract/empty_results.hpp"
#include "contour/contour.hpp"
#include "contour/contour_rows.hpp"
#include "contour/surface.hpp"
#include "mesh/cell_choice.hpp"
#include "mesh/plane.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream {

/// Isosurfaces of one component of a variable.
struct IsosurfaceQuery {
  std::int32_t variable = -1;
  int component = 0;
  std::vector<double> values;
  std::vector<std::int32_t> fields;  ///< further variables, all components, at the vertices
  bool normals = true;
  /// In lists of cells: the variable lies in cells, and its means at points are taken.
  bool averaged = false;
  bool in_lists = false;
  /// In trees and on refinement levels; level_surfaces.hpp extracts it.
  bool in_levels = false;
  bool single = false;  ///< points and normals in single precision
  CellChoice choice{};  ///< of the points between which there are surfaces: cells, or nodes of meshes with axes
};

/// In lists of cells means at points, and slopes, need what other blocks have: that is found in passes before the last
/// one. `seams` is what `local` returns in such a pass, `joined` what `combine` does; `found`: what passes before
/// found, which it changes.
[[nodiscard]] int passes_of(const IsosurfaceQuery& query);
[[nodiscard]] Bytes seams(const IsosurfaceQuery& query, const LocalInput& input);
[[nodiscard]] Bytes joined(const IsosurfaceQuery& query, const CombineInput& input, Bytes& found);

/// A plane through a mesh with variables on it.
struct SliceQuery {
  std::vector<std::int32_t> variables;  ///< all components; the first one's centring decides the points
  Plane plane;
  bool single = false;  ///< points in single precision, in files
  bool own = false;     ///< each cell has its own value (extract_cellwise); otherwise values are linear between points
  bool edges = false;   ///< with the outlines of cells as lines
  CellChoice choice{};
};

/// What the pieces are for. A picture has no use for what is only written beside a surface: `fields` and
/// `normals`.
enum class Purpose { surface, picture };

/// The options that describe them (no file name), and their values, checked. The readers throw
/// Error(configuration).
[[nodiscard]] std::vector<Option> isosurface_options(Purpose purpose = Purpose::surface);
[[nodiscard]] IsosurfaceQuery read_isosurface(const Settings& settings, const Metadata& metadata,
                                              Purpose purpose = Purpose::surface);
[[nodiscard]] std::vector<Option> slice_options(Purpose purpose = Purpose::surface);
[[nodiscard]] SliceQuery read_slice(const Settings& settings, const Metadata& metadata,
                                    Purpose purpose = Purpose::surface);

[[nodiscard]] Selection selection_of(const IsosurfaceQuery& query, const Metadata& metadata);
[[nodiscard]] Selection selection_of(const SliceQuery& query, const Metadata& metadata);

/// The pieces of this server's blocks: of each block one for each value (layer = index of the value), or one
/// for the plane (layer 0). Data: for isosurfaces the components of `fields` in order; for slices of
/// `variables`.
[[nodiscard]] std::vector<Piece> extract(const IsosurfaceQuery& query, const LocalInput& input);
[[nodiscard]] std::vector<Piece> extract(const SliceQuery& query, const LocalInput& input);

/// Whether isosurfaces come in rows: those in meshes of three dimensions whose blocks are boxes.
[[nodiscard]] bool come_in_rows(const IsosurfaceQuery& query, const Metadata& metadata);
/// The isosurfaces of this server's blocks, block after block, without keeping them: what `make` returns for a value
/// takes the rows of one box of cells. Blocks with axes are cut into small boxes, those first where `distance` of their
/// middle is least. Without `fields`.
void extract_rows(const IsosurfaceQuery& query, const LocalInput& input,
                  const std::function<double(const std::array<double, 3>&)>& distance,
                  const std::function<std::unique_ptr<ContourRows>(std::size_t value)>& make);

/// The sources of all components of some variables in one block, in order.
class AttributeSources {
 public:
  /// Keeps references to grid and input.
  AttributeSources(const PointGrid& grid, const std::vector<std::int32_t>& variables, std::int64_t block,
                   const LocalInput& input);
  [[nodiscard]] std::span<ScalarSource* const> pointers() const noexcept { return pointers_; }

 private:
  std::vector<std::unique_ptr<FieldSource>> sources_;
  std::vector<ScalarSource*> pointers_;
};

/// The coordinates of a block's nodes or points, or null if they are not here.
[[nodiscard]] const BlockView* coordinates_of(const Mesh& mesh, const LocalInput& input, const BlockView& of);

/// The flags of a block's cells (role cell_ghosts), or null.
[[nodiscard]] const BlockView* flags_of(const Mesh& mesh, const LocalInput& input, const BlockView& of);

/// Collective: why there are no surfaces of some of the values, by number, or no slice.
[[nodiscard]] std::string why_empty(const IsosurfaceQuery& query, const std::vector<std::size_t>& values,
                                    const SeenValues& seen, const CombineInput& input);
[[nodiscard]] std::string why_empty(const SliceQuery& query, const CombineInput& input);

/// How Piece::data is made up.
[[nodiscard]] std::vector<AttributeLayout> layout_of_variables(const std::vector<std::int32_t>& variables,
                                                               const Metadata& metadata);
[[nodiscard]] std::vector<AttributeLayout> layout_of(const IsosurfaceQuery& query, const Metadata& metadata);
[[nodiscard]] std::vector<AttributeLayout> layout_of(const SliceQuery& query, const Metadata& metadata);

// Slices on which each cell has its own value: of octrees and of meshes with axes, on all their refinement levels.

/// The blocks that have chosen cells which the plane may meet.
[[nodiscard]] Part cellwise_slice_part(const SliceQuery& query, const Mesh& mesh);

/// What the plane cuts of this server's blocks: of each cell that counts a polygon in triangles (of a mesh of two
/// dimensions a line), and with `edges` its outline in lines, in a piece of their own with the same points. Points are
/// no two cells'. Trees are walked from their roots down, and what the plane does not meet is not looked at.
[[nodiscard]] std::vector<Piece> extract_cellwise(const SliceQuery& query, const LocalInput& input);

}  // namespace sidestream
