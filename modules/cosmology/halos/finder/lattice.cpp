#include "cosmology/halos/finder/lattice.hpp"

#include <algorithm>
#include <cstdlib>

namespace sidestream::halos {

Lattice::Lattice(const Mesh& mesh, Order order)
    : origin(mesh.cells.lo), periodic(mesh.periodic), dimensions(mesh.dimensions) {
  for (std::size_t a = 0; a < 3; ++a) size[a] = mesh.cells.extent(static_cast<int>(a));
  along = order == Order::row ? static_cast<std::size_t>(mesh.dimensions) - 1 : 0;
  across = {along == 0 ? std::size_t{1} : 0, along == 2 ? std::size_t{1} : 2};
}

std::optional<Index> Lattice::row_beside(Index row, Index step0, Index step1) const noexcept {
  std::array<Index, 2> place{row % size[across[0]] + step0, row / size[across[0]] + step1};
  for (std::size_t n = 0; n < 2; ++n) {
    const std::size_t axis = across[n];
    if (place[n] >= 0 && place[n] < size[axis]) continue;
    if (!periodic[axis]) return std::nullopt;
    place[n] = (place[n] + size[axis]) % size[axis];
  }
  return place[0] + size[across[0]] * place[1];
}

bool are_neighbours(int connectivity, const Index3& offset) {
  Index steps = 0;
  bool up = false, down = false;
  for (const Index d : offset) {
    if (std::abs(d) > 1) return false;
    steps += std::abs(d);
    up |= d > 0;
    down |= d < 0;
  }
  if (steps == 0) return false;
  switch (connectivity) {
    case 6:
      return steps == 1;
    case 18:
      return steps <= 2;
    case 14:
      return !(up && down);
    default:
      return true;
  }
}

std::vector<RowStep> row_steps(int connectivity) {
  std::vector<RowStep> steps;
  for (const auto& [step0, step1] : {std::pair<Index, Index>{1, 0}, {-1, 1}, {0, 1}, {1, 1}}) {
    RowStep step{step0, step1, 2, -2};
    for (Index x = -1; x <= 1; ++x) {
      if (!are_neighbours(connectivity, {x, step0, step1})) continue;
      step.low = std::min(step.low, x);
      step.high = std::max(step.high, x);
    }
    if (step.low <= step.high) steps.push_back(step);
  }
  return steps;
}

}  // namespace sidestream::halos
