// A block as it moves: with all its cells, or with means over groups of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "sidestream/data/type.hpp"
#include "sidestream/extend/communicator.hpp"
#include "visualisation/relevance/block_values.hpp"

namespace sidestream {

/// The record before the values of a moving block.
struct ThinnedHead {
  std::int64_t id = 0;
  Box cells;
  std::int64_t bytes = 0;    ///< of the flags and values that follow
  std::int64_t counted = 0;  ///< cells that count
  std::int64_t boxes = 0;    ///< values that move: one for each group, or cell that is in none
  double squares = 0;        ///< sum of the squares of the errors of these cells
  double largest = 0;        ///< largest error
  std::int32_t thinned = 0;  ///< 0: all cells; otherwise cells are joined
  std::int32_t flagged = 0;  ///< 0: all cells count; otherwise a flag for each cell precedes the values
};

/// The content of a moving block: boxes of cells, each with one value.
struct ThinnedCells {
  ThinnedHead head;
  std::vector<Box> boxes;
  std::vector<double> values;
};

/// The type of values in a moving block: that of the variable, except for means of integers and for integers of 64
/// bits, which are float64.
[[nodiscard]] Type moving_type(Type of_variable, bool thinned) noexcept;

/// Appends a block to `out`, as a head and values. With `factor` > 1 each group of `factor` cells along each axis of
/// the mesh becomes one, with their mean by volume; groups begin at the block's lower end, and the last ones may have
/// fewer cells. Cells of groups with a cell that does not count stay as they are.
void put_block(const BlockValues& block, Index factor, const Mesh& mesh, Type of_variable, Bytes& out);

/// The heads of blocks in these bytes, and where each begins.
[[nodiscard]] std::vector<std::pair<ThinnedHead, std::size_t>> heads_in(BytesView bytes);

/// The cells of the block that begins there. Throws Error(internal) if the bytes are damaged.
[[nodiscard]] ThinnedCells thinned_cells_in(BytesView block, Index factor, const Mesh& mesh, Type of_variable);

}  // namespace sidestream
