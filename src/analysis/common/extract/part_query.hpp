// Parts of a mesh, as stated in the configuration: its cells in which a variable lies in a range, or those on one side
// of a plane or of a box. Shared by the analyses threshold and clip and by the renderer.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "analysis/common/extract/extract.hpp"
#include "contour/contour.hpp"
#include "contour/cuts/cutter.hpp"
#include "mesh/cells/block_cells.hpp"

namespace sidestream {

/// What of a mesh is wanted. The variables come along, all components; the first one's blocks are looked at.
struct PartQuery {
  std::vector<std::int32_t> variables;
  bool neighbours = false;  ///< with what is beyond a block's faces, so that those between cells are known
  /// What a picture shows: the number of a variable in `variables`, and a component of it.
  std::size_t shown = 0;
  int shown_component = 0;
  CellChoice choice{};  ///< of cells, before anything else
};

/// Cells in which a component of the first variable lies in a range, both ends of which belong to it.
struct ThresholdQuery : PartQuery {
  int component = 0;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool any = false;  ///< of values at points: one in the range is enough
};

struct ClipQuery : PartQuery {
  ClipRegion region;
};

/// The options that describe them (no file name), and their values, checked. The readers throw Error(configuration).
[[nodiscard]] std::vector<Option> threshold_options(Purpose purpose = Purpose::surface);
[[nodiscard]] ThresholdQuery read_threshold(const Settings& settings, const Metadata& metadata,
                                            Purpose purpose = Purpose::surface);
[[nodiscard]] std::vector<Option> clip_options(Purpose purpose = Purpose::surface);
[[nodiscard]] ClipQuery read_clip(const Settings& settings, const Metadata& metadata,
                                  Purpose purpose = Purpose::surface);

[[nodiscard]] Selection selection_of(const ThresholdQuery& query, const Metadata& metadata);
[[nodiscard]] Selection selection_of(const ClipQuery& query, const Metadata& metadata);

/// The part of one block, and, if the query asks for neighbours, that of the cells around it.
struct BlockPart {
  CellPiece own, around;
};
[[nodiscard]] std::vector<BlockPart> parts_of(const ThresholdQuery& query, const LocalInput& input);
[[nodiscard]] std::vector<BlockPart> parts_of(const ClipQuery& query, const LocalInput& input);

/// For pictures: the boundary faces of the parts, with the values that are shown as their data.
[[nodiscard]] std::vector<Piece> extract(const ThresholdQuery& query, const LocalInput& input);
[[nodiscard]] std::vector<Piece> extract(const ClipQuery& query, const LocalInput& input);

/// The values that a threshold goes by.
[[nodiscard]] inline SeenValues seen_values_of(const ThresholdQuery& query) {
  return {query.variables.front(), query.component};
}
/// Collective: why nothing is chosen.
[[nodiscard]] std::string why_empty(const ThresholdQuery& query, const SeenValues& seen, const CombineInput& input);
[[nodiscard]] std::string why_empty(const ClipQuery& query, const CombineInput& input);

/// How the data of their pieces are made up.
[[nodiscard]] CellLayout layout_of(const PartQuery& query, const Metadata& metadata);

// ---- what both have in common ---------------------------------------------------------------------------------------

/// `variable`, checked, and the variables of `fields` behind it.
[[nodiscard]] PartQuery read_part(const Settings& settings, const Metadata& metadata, const std::string& what,
                                  Purpose purpose);
/// The option `fields`.
[[nodiscard]] Option part_fields_option();
/// Whether a cell of a block is chosen.
[[nodiscard]] bool is_chosen(const CellChoice& choice, const BlockCells& cells, std::size_t number,
                             const BlockCell& cell);
/// A selection of the blocks that `part` says, with the halos that their cells need.
[[nodiscard]] Selection selection_of_part(const PartQuery& query, const Metadata& metadata, const Part& part);
/// Of all components of the query's variables.
[[nodiscard]] std::vector<BlockNumbers> fields_of(const PartQuery& query, const Metadata& metadata,
                                                  const BlockCells& cells);

/// Collective: writes the set of all servers' pieces, in one file or in pieces. Returns on rank 0 which points were
/// kept apart.
RepeatedPoints add_part(const std::string& file, Pieces how, const CellLayout& layout, const CombineInput& input);
/// The own pieces as a partial.
[[nodiscard]] Bytes to_bytes(std::vector<BlockPart> parts);

// What is seen of cells: their faces but for those between two of them.

/// The faces of the cells of three dimensions that no second cell has, neither in the block nor around it, those of two
/// dimensions, and lines, with points and normals of their own. Faces are cut into triangles from their least point, so
/// that cells of different types agree. Data: attribute `attribute` of the layout, of cells the same all over a face.
[[nodiscard]] Piece boundary_faces(const BlockPart& part, bool in_cells, std::size_t attribute);

}  // namespace sidestream
