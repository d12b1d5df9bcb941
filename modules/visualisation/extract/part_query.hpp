// Queries for parts of a mesh, as configured: cells in which a variable lies in a range, or cells on one side of a
// plane or of a box. Shared by the analyses threshold and clip and by the renderer.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "visualisation/contour/contour.hpp"
#include "visualisation/contour/cuts/cutter.hpp"
#include "visualisation/extract/extract.hpp"
#include "visualisation/mesh/cells/block_cells.hpp"

namespace sidestream {

/// A part of a mesh. The variables are extracted with all components; the blocks of the first one are searched.
struct PartQuery {
  std::vector<std::int32_t> variables;
  bool neighbours = false;  ///< also visit cells beyond a block's faces, so that faces between cells are known
  /// For an image: index of the shown variable in `variables`, and its component.
  std::size_t shown = 0;
  int shown_component = 0;
  CellChoice choice{};  ///< choice of cells, applied first
};

/// Cells in which a component of the first variable lies in a closed range.
struct ThresholdQuery : PartQuery {
  int component = 0;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool any = false;  ///< for values at points: true if one point in the range suffices
};

struct ClipQuery : PartQuery {
  ClipRegion region;
};

/// Options of the queries, without a file name, and their checked values. The readers throw Error(configuration).
[[nodiscard]] std::vector<Option> threshold_options(Purpose purpose = Purpose::surface);
[[nodiscard]] ThresholdQuery read_threshold(const Settings& settings, const Metadata& metadata,
                                            Purpose purpose = Purpose::surface);
[[nodiscard]] std::vector<Option> clip_options(Purpose purpose = Purpose::surface);
[[nodiscard]] ClipQuery read_clip(const Settings& settings, const Metadata& metadata,
                                  Purpose purpose = Purpose::surface);

[[nodiscard]] Selection selection_of(const ThresholdQuery& query, const Metadata& metadata);
[[nodiscard]] Selection selection_of(const ClipQuery& query, const Metadata& metadata);

/// The part of one block, and, if the query asks for neighbours, the part of the cells around it.
struct BlockPart {
  CellPiece own, around;
};
[[nodiscard]] std::vector<BlockPart> parts_of(const ThresholdQuery& query, const LocalInput& input);
[[nodiscard]] std::vector<BlockPart> parts_of(const ClipQuery& query, const LocalInput& input);

/// For images: the boundary faces of the parts, with the shown values as data.
[[nodiscard]] std::vector<Piece> extract(const ThresholdQuery& query, const LocalInput& input);
[[nodiscard]] std::vector<Piece> extract(const ClipQuery& query, const LocalInput& input);

/// The values that a threshold depends on.
[[nodiscard]] inline SeenValues seen_values_of(const ThresholdQuery& query) {
  return {query.variables.front(), query.component};
}
/// Collective: the reason why nothing is chosen.
[[nodiscard]] std::string why_empty(const ThresholdQuery& query, const SeenValues& seen, const CombineInput& input);
[[nodiscard]] std::string why_empty(const ClipQuery& query, const CombineInput& input);

/// Layout of the pieces' data.
[[nodiscard]] CellLayout layout_of(const PartQuery& query, const Metadata& metadata);

// ---- Shared by both ------------------------------------------------------------------------------------------------

/// Reads and checks `variable`, followed by the variables of `fields`.
[[nodiscard]] PartQuery read_part(const Settings& settings, const Metadata& metadata, const std::string& what,
                                  Purpose purpose);
/// The option `fields`.
[[nodiscard]] Option part_fields_option();
/// True if a cell of a block is chosen.
[[nodiscard]] bool is_chosen(const CellChoice& choice, const BlockCells& cells, std::size_t number,
                             const BlockCell& cell);
/// Selection of the blocks in `part`, with the halos that their cells need.
[[nodiscard]] Selection selection_of_part(const PartQuery& query, const Metadata& metadata, const Part& part);
/// Numbers of all components of the query's variables.
[[nodiscard]] std::vector<BlockNumbers> fields_of(const PartQuery& query, const Metadata& metadata,
                                                  const BlockCells& cells);

/// Collective: writes all servers' cells, in one file or in pieces. Returns on rank 0 the points that were kept apart.
RepeatedPoints add_part(const std::string& file, Pieces how, const CellLayout& layout, const CombineInput& input);
/// Serialises the own pieces as a partial.
[[nodiscard]] Bytes to_bytes(std::vector<BlockPart> parts);

// Boundary faces: faces that belong to exactly one cell.

/// Extracts lines, two-dimensional cells, and those faces of three-dimensional cells that no second cell in or around
/// the block shares. Each has its own points and normals. Faces are cut into triangles from their lowest point, so that
/// cells of different types agree. Data: attribute `attribute` of the layout, constant on a face for values in cells.
[[nodiscard]] Piece boundary_faces(const BlockPart& part, bool in_cells, std::size_t attribute);

}  // namespace sidestream
