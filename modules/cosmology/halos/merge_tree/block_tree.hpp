// The merge tree of one box of cells, and the part of it that may continue in other boxes.
#pragma once

#include <cstdint>
#include <vector>

#include "cosmology/halos/finder/box_runs.hpp"
#include "cosmology/halos/merge_tree/local_tree.hpp"
#include "sidestream/data/block.hpp"

namespace sidestream::halos {

/// A cell at the border of a box, and the maximum of its component in the box at the cell's own level.
struct BorderCell {
  Index row = 0;
  std::int32_t place = 0;
  std::uint32_t owner : 24 = 0;  ///< server that has the box
  std::uint32_t ways : 8 = 0;    ///< neighbours, in the same and later rows, that are outside the box; see
                                 ///< BoxSweep::ways_from
  ValuedCell cell, top;
  [[nodiscard]] bool before(Index other_row, Index other_place) const noexcept {
    return row != other_row ? row < other_row : place < other_place;
  }
};

/// The tree of a box.
class BlockTree {
 public:
  /// `box`: of the block's own cells. Throws Error(analysis) if it has more cells than 32 bits can number.
  BlockTree(const BlockView& view, const Box& box, const Lattice& lattice, int connectivity, int component);

  [[nodiscard]] const std::vector<Triplet>& certain() const noexcept { return local_.certain; }
  [[nodiscard]] const std::vector<Triplet>& open() const noexcept { return local_.open; }
  /// Moves the border cells out; call it once.
  [[nodiscard]] std::vector<BorderCell> take_border() noexcept { return std::move(border_); }
  /// Maxima of the box, by number.
  [[nodiscard]] const std::vector<ValuedCell>& maxima() const noexcept { return local_.maxima; }
  [[nodiscard]] const Box& box() const noexcept { return box_; }
  /// Number of each cell's maximum, by the cell's index in the box: along the rows fastest, then along the first and
  /// the second of the other axes. -1: NaN, or a cell that does not count.
  [[nodiscard]] const std::vector<std::int32_t>& numbers() const noexcept { return local_.numbers; }
  [[nodiscard]] std::size_t place_of(const Index3& point, const Lattice& lattice) const noexcept;

 private:
  template <class Real>
  friend class BoxSweep;

  Box box_;
  LocalTree local_;
  std::vector<BorderCell> border_;
};

}  // namespace sidestream::halos
