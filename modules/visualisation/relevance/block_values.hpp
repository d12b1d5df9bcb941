// The values of the cells of one block, on a mesh with axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// The cells of a block, i fastest, with their values and whether they count.
struct BlockValues {
  std::int64_t id = 0;
  Box cells;
  std::vector<double> values;  ///< 0 in cells that do not count
  std::vector<char> counts;    ///< 1 in cells that count: owned by the block and not flagged
  std::int64_t counted = 0;    ///< number of such cells
  double low = 0, high = 0;    ///< their least and greatest value; 0 without finite values
  bool finite = true;          ///< false if a cell that counts has NaN or an infinity

  /// Number of a cell.
  [[nodiscard]] std::size_t at(const Index3& p) const noexcept {
    return static_cast<std::size_t>(((p[2] - cells.lo[2]) * cells.extent(1) + (p[1] - cells.lo[1])) * cells.extent(0) +
                                    (p[0] - cells.lo[0]));
  }
  [[nodiscard]] bool whole() const noexcept { return counted == cells.count(); }
};

/// Reads component `component` of a variable in cells.
[[nodiscard]] BlockValues values_of(const BlockView& view, int component);

/// Calls `f(const Index3&)` for each cell of a box, i fastest.
template <class F>
void for_each_cell(const Box& box, F&& f) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) f(Index3{i, j, k});
    }
  }
}

}  // namespace sidestream
