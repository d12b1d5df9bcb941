// Averages of cell values at points. The mean is over the cells around each point, in lists of cells of any number of
// blocks.
//
// The numbers of a point are added from the least to the greatest, so that the mean does not depend on the order of
// cells. Points on a block's rim may have cells in other blocks, so their numbers go to the server that owns the
// point's number. If several blocks have a point, all servers get its mean, one pass before they use it. Points that
// have one number at different places, as the two ends of a periodic mesh may, are not joined.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "visualisation/mesh/cells/cell_list.hpp"

namespace sidestream {

/// Means at points that several blocks have, by point number and place: `width` values each.
class SeamMeans {
 public:
  SeamMeans() = default;
  /// Reads the bytes from `join_seams`.
  SeamMeans(BytesView bytes, std::size_t width);
  /// The means of a point; null if only one block has it.
  [[nodiscard]] const double* find(std::int64_t name, const std::array<double, 3>& place) const;

 private:
  std::size_t width_ = 1;
  std::vector<std::int64_t> names_;  ///< ascending; repeated if a number has several places
  std::vector<std::array<double, 3>> places_;
  std::vector<double> means_;
  double reach_ = 0;  ///< the largest absolute coordinate
};

/// The numbers that cells of one block give to its points.
class PointSums {
 public:
  /// Each cell gives `width` numbers. Keeps a reference.
  PointSums(const CellList& list, std::size_t width);
  /// Gives the numbers of a cell that counts to all its corners.
  void add(std::size_t cell, std::span<const double> numbers);
  /// The numbers of points on the rim, for `join_seams`; empty if points have no numbers that other blocks know.
  [[nodiscard]] Bytes seams() const;
  /// `width` means for each point; NaN where no cell gave any.
  [[nodiscard]] std::vector<double> means(const SeamMeans& seams) const;

 private:
  [[nodiscard]] std::vector<char> rim() const;

  const CellList& list_;
  std::size_t width_;
  std::vector<std::vector<double>> given_;  ///< by point: width numbers per cell
};

/// The means at points that several of the servers' blocks have, the same bytes on all servers. Collective. `partials`
/// are those of any number of blocks, one after the other.
[[nodiscard]] Bytes join_seams(std::span<const Bytes> partials, std::size_t width, Communicator& servers);

/// Sums for the means of values in cells.
[[nodiscard]] PointSums sums_of_cells(const CellList& list, const std::vector<double>& in_cells);
/// Sums for the mean slopes of values at points. Each cell gives the slope of the linear function that fits its corners
/// best, which for tetrahedra passes through them. Cells without volume, or with a corner without a value, give none.
[[nodiscard]] PointSums slopes_of_cells(const CellList& list, const std::vector<double>& at_points);

}  // namespace sidestream
