// Numbers of cells as numbers at points: the mean over the cells round each point, in lists of cells that lie in any
// number of blocks.
//
// The numbers that a point gets are added up from the least to the greatest, so that the mean does not depend on the
// order of cells. Points on a block's rim may have cells in other blocks: what they get goes to the server that looks
// after their number, and the means of those that several blocks have come back to all, in a pass before the one that
// uses them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mesh/cells/cell_list.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Means at points that several blocks have, by their numbers: `width` each.
class SeamMeans {
 public:
  SeamMeans() = default;
  /// From what `join_seams` returned.
  SeamMeans(BytesView bytes, std::size_t width);
  /// Null if the point is in one block alone.
  [[nodiscard]] const double* find(std::int64_t name) const;

 private:
  std::size_t width_ = 1;
  std::vector<std::int64_t> names_;  ///< ascending
  std::vector<double> means_;
};

/// The numbers that cells of one block give to its points.
class PointSums {
 public:
  /// Each cell gives `width` numbers. Keeps a reference.
  PointSums(const CellList& list, std::size_t width);
  /// To all corners of a cell that counts.
  void add(std::size_t cell, std::span<const double> numbers);
  /// What points on the rim got, for `join_seams`; nothing if points have no numbers that other blocks know.
  [[nodiscard]] Bytes seams() const;
  /// Of each point `width` means; NaN where no cell gave any.
  [[nodiscard]] std::vector<double> means(const SeamMeans& seams) const;

 private:
  [[nodiscard]] std::vector<char> rim() const;

  const CellList& list_;
  std::size_t width_;
  std::vector<std::vector<double>> given_;  ///< by point: width numbers a cell
};

/// Collective: the means at points that several of the servers' blocks have, the same bytes on all servers. `partials`:
/// of any number of blocks, one after the other.
[[nodiscard]] Bytes join_seams(std::span<const Bytes> partials, std::size_t width, Communicator& servers);

/// Means of values in cells.
[[nodiscard]] PointSums sums_of_cells(const CellList& list, const std::vector<double>& in_cells);
/// Means of the slopes of values at points: of each cell that of the linear function that fits its corners best, which
/// for tetrahedra passes through them. Cells without volume, or with a corner without a value, give none.
[[nodiscard]] PointSums slopes_of_cells(const CellList& list, const std::vector<double>& at_points);

}  // namespace sidestream
