// Numbers of the cells of all levels, which break ties and sort tables.
#pragma once

#include "cosmology/halos/amr/amr_grid.hpp"

namespace sidestream::halos {

/// Assigns 64-bit numbers that ascend like AmrId: 32 times the linear index of the cell's last part, in cells of the
/// deepest level with numbers, plus the cell's level.
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
