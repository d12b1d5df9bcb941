// Cells of refined meshes that exist in a box, each once, and their values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/database/stored_values.hpp"

namespace sidestream::database {

/// Selection of cells of an octree, or of a mesh with or without refinement levels.
struct CellChoice {
  std::int32_t level = 0;               ///< the level whose cells `box` counts
  std::optional<Box> box;               ///< nothing: the whole mesh
  std::int32_t coarsest = 0;            ///< level of the coarsest cells
  std::optional<std::int32_t> deepest;  ///< cells of this level are leaves; nothing: no limit
  bool leaves = true;                   ///< only cells that count (leaves)
};

/// Cells by level. Cells of trees are in the order of Morton keys; others by block, with i fastest within a block.
/// Entry n of each list belongs to cell n.
struct CellList {
  const Context* context = nullptr;  ///< the context that listed them; not read
  std::int32_t mesh = 0;
  std::vector<PlacedBlock> blocks;  ///< of the mesh, by level and id
  std::vector<std::int32_t> level;
  std::vector<Index3> index;          ///< (i, j, k) on its level
  std::vector<std::uint8_t> refined;  ///< 1: the cell contains finer cells
  std::vector<std::int64_t> owner;    ///< id of the block in which the cell counts; -1: none
  std::vector<std::uint32_t> block;   ///< the block with its values: index into `blocks`
  std::vector<Index> place;           ///< index of its values there, in the order of the block's cells with i fastest
};

/// Lists the chosen cells, each once. A tree's cell comes from the block that has refined it, otherwise from a block
/// that owns it, otherwise from the block of lowest id. A cell of other meshes comes from the block of lowest id. Reads
/// the flags of trees whose bounds meet the box, and no values. Throws Error.
[[nodiscard]] CellList list_cells(const StoredValues& values, const Mesh& mesh, const CellChoice& choice);

/// Reads a variable's values in the listed cells into `out`, in the order of the list, with interleaved components.
/// Only the chunks with these values are read. Cells of blocks that were not stored become NaN, or 0 for integers.
/// Returns the number of such cells. Throws Error.
[[nodiscard]] std::int64_t read_cells(const StoredValues& values, const Variable& variable, const CellList& cells,
                                      std::byte* out);

}  // namespace sidestream::database
