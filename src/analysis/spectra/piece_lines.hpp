// Lines of a server's pencils or slabs, read some at a time as memory has them.
#pragma once

#include <vector>

#include "analysis/spectra/line_transform.hpp"
#include "sidestream/data/block.hpp"

namespace sidestream::spectra {

/// Some neighbouring lines along an axis: they begin at `first`, and differ in the index along `across`.
struct LineBatch {
  Index3 first{};
  int across = 1;
  Index lines = 0;
};

/// Calls f(const LineBatch&) for all lines of a piece along `axis`, each once; up to `together` in a batch, neighbours
/// along the axis that is fastest in memory.
template <class F>
void for_each_batch(const BlockView& view, int axis, Index together, F&& f) {
  const auto& strides = view.array.strides;
  const int one = axis == 0 ? 1 : 0, two = axis == 2 ? 1 : 2;
  const auto stride = [&](int a) { return strides[static_cast<std::size_t>(a)]; };
  LineBatch batch;
  batch.across = stride(one) <= stride(two) ? one : two;
  const auto fast = static_cast<std::size_t>(batch.across), slow = static_cast<std::size_t>(one + two - batch.across);
  const Box& cells = view.block.cells;
  batch.first[static_cast<std::size_t>(axis)] = cells.lo[static_cast<std::size_t>(axis)];
  for (Index s = cells.lo[slow]; s < cells.hi[slow]; ++s) {
    for (Index n = cells.lo[fast]; n < cells.hi[fast]; n += together) {
      batch.first[slow] = s;
      batch.first[fast] = n;
      batch.lines = std::min(together, cells.hi[fast] - n);
      f(batch);
    }
  }
}

/// The numbers of component `c` of a batch's lines, less `less`: line l at out + l * row.
void read_lines(const ArrayView& array, int c, int axis, Index length, const LineBatch& batch, double* out, Index row,
                double less = 0);
/// Where the numbers of such a line are if they are doubles next to each other; otherwise null.
[[nodiscard]] const double* line_in_place(const ArrayView& array, int c, int axis, const LineBatch& batch, Index line);

/// The points of pieces that nobody delivered.
[[nodiscard]] Index absent_points(const std::vector<BlockView>& pieces);

}  // namespace sidestream::spectra
