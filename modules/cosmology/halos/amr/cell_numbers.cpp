#include "cosmology/halos/amr/cell_numbers.hpp"

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::halos {

CellNumbers::CellNumbers(const AmrGrid& grid) {
  constexpr double most = 0x1p58;
  for (std::size_t level = 0; level < grid.levels() && level < static_cast<std::size_t>(levels); ++level) {
    const Index3& extents = grid.extents(static_cast<std::int32_t>(level));
    double cells = 1;
    for (const Index extent : extents) cells *= static_cast<double>(extent);
    if (cells > most) break;
    extents_.push_back(extents);
    deepest_ = static_cast<std::int32_t>(level);
  }
}

Index CellNumbers::number_of(const AmrCell& cell) const {
  if (cell.level > deepest_) {
    fail(Code::analysis,
         "found a cell on level {}, expected none below level {}, the deepest on which numbers of 64 bits tell cells "
         "apart; `resample` the mesh to that level",
         cell.level, deepest_);
  }
  const Index3 &fine = extents_.back(), &own = extents_[static_cast<std::size_t>(cell.level)];
  Index number = 0;
  for (std::size_t a = 0; a < 3; ++a) number = number * fine[a] + (cell.index[a] + 1) * (fine[a] / own[a]) - 1;
  return number * levels + cell.level;
}

AmrCell CellNumbers::cell_of(Index number) const noexcept {
  AmrCell cell{static_cast<std::int32_t>(number % levels), {}};
  const Index3 &fine = extents_.back(), &own = extents_[static_cast<std::size_t>(cell.level)];
  number /= levels;
  for (std::size_t a = 3; a-- > 0; number /= fine[a]) cell.index[a] = number % fine[a] / (fine[a] / own[a]);
  return cell;
}

}  // namespace sidestream::halos
