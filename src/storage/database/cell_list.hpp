// Cells of refined meshes: which ones there are in a box, each of them once, and their values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/database/stored_values.hpp"

namespace sidestream::database {

/// Which cells of an octree, or of a mesh with or without refinement levels, are wanted.
struct CellChoice {
  std::int32_t level = 0;               ///< the level that `box` counts cells of
  std::optional<Box> box;               ///< nothing: the whole mesh
  std::int32_t coarsest = 0;            ///< level of the coarsest cells
  std::optional<std::int32_t> deepest;  ///< cells of this level are leaves; nothing: no limit
  bool leaves = true;                   ///< only cells that count
};

/// Cells by level. Those of trees are in the order of Morton keys, others by block, and within it i fastest. Entry n of
/// each list is of cell n.
struct CellList {
  const Context* context = nullptr;  ///< that listed them; not read
  std::int32_t mesh = 0;
  std::vector<PlacedBlock> blocks;  ///< of the mesh, by level and id
  std::vector<std::int32_t> level;
  std::vector<Index3> index;          ///< (i, j, k) on its level
  std::vector<std::uint8_t> refined;  ///< 1: finer cells lie in it
  std::vector<std::int64_t> owner;    ///< id of the block that it counts in; -1: none
  std::vector<std::uint32_t> block;   ///< that has its values: a number in `blocks`
  std::vector<Index> place;           ///< of its values there, in the order of the block's cells with i fastest
};

/// Lists the chosen cells, each once. A cell of trees is that of the block that has refined it, else of one that owns
/// it, else of the lowest id. A cell of other blocks is that of the lowest id. Reads the flags of trees whose bounds
/// meet the box, and no values. Throws Error.
[[nodiscard]] CellList list_cells(const StoredValues& values, const Mesh& mesh, const CellChoice& choice);

/// Reads a variable's values in the cells of a list into `out`, in the order of the list, components next to each
/// other. Only the chunks with these values are read. Cells of blocks that were not stored become NaN, or 0 for whole
/// numbers. Returns the number of these. Throws Error.
[[nodiscard]] std::int64_t read_cells(const StoredValues& values, const Variable& variable, const CellList& cells,
                                      std::byte* out);

}  // namespace sidestream::database
