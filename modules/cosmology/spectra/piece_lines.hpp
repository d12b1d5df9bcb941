// Lines of a server's pencils or slabs, read in batches in the order of memory.
#pragma once

#include <vector>

#include "cosmology/spectra/line_transform.hpp"
#include "sidestream/data/block.hpp"

namespace sidestream::spectra {

/// Contiguous lines along an axis: the first begins at `first`, and their indices along `across` differ.
struct LineBatch {
  Index3 first{};
  int across = 1;
  Index lines = 0;
};

/// Calls f(const LineBatch&) for all lines of a piece along `axis`, each once. A batch has up to `together` lines,
/// which are contiguous along the axis that is fastest in memory.
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

/// Reads component `c` of a batch's lines, and subtracts `less`: line l goes to out + l * row.
void read_lines(const ArrayView& array, int c, int axis, Index length, const LineBatch& batch, double* out, Index row,
                double less = 0);
/// Address of such a line's numbers if they are contiguous doubles, else null.
[[nodiscard]] const double* line_in_place(const ArrayView& array, int c, int axis, const LineBatch& batch, Index line);

/// Number of points of pieces that were not delivered.
[[nodiscard]] Index absent_points(const std::vector<BlockView>& pieces);

}  // namespace sidestream::spectra
