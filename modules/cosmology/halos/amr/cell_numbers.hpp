// Numbers for the cells of all levels, by which ties are broken and tables sorted.
#pragma once

#include "cosmology/halos/amr/amr_grid.hpp"

namespace sidestream::halos {

/// Numbers of 64 bits, which ascend like AmrId: the linear index of the cell's last part, in cells of the deepest level
/// that such numbers count, times 32, plus the cell's level.
class CellNumbers {
 public:
  explicit CellNumbers(const AmrGrid& grid);

  /// The deepest level that has numbers; -1: none.
  [[nodiscard]] std::int32_t deepest() const noexcept { return deepest_; }
  /// Throws Error(analysis) if the level is too deep.
  [[nodiscard]] Index number_of(const AmrCell& cell) const;
  [[nodiscard]] AmrCell cell_of(Index number) const noexcept;

 private:
  static constexpr Index levels = 32;

  std::vector<Index3> extents_;  ///< of the levels that have numbers
  std::int32_t deepest_ = -1;
};

}  // namespace sidestream::halos
