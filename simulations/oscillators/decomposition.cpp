#include "decomposition.hpp"

#include <string>

#include "input.hpp"

namespace oscillators {

Index3 near_cubic(std::int64_t blocks, const Index3& cells) {
  Index3 best{0, 0, 0};
  double least = -1;
  for (std::int64_t a = 1; a <= blocks && a <= cells[0]; ++a) {
    if (blocks % a != 0) continue;
    for (std::int64_t b = 1; b <= blocks / a && b <= cells[1]; ++b) {
      const std::int64_t c = blocks / a / b;
      if (a * b * c != blocks || c > cells[2]) continue;
      const auto parts = Index3{a, b, c};
      double surface = 0;  // of all blocks, in units of the whole grid's volume
      for (int axis = 0; axis < 3; ++axis) {
        surface += static_cast<double>(parts[axis]) / static_cast<double>(cells[axis]);
      }
      // Strictly less: on ties the first stays, which cuts the slowest axis most, so that rows stay long.
      if (least < 0 || surface < least) {
        least = surface;
        best = parts;
      }
    }
  }
  if (least < 0) {
    throw UserError("a grid of " + std::to_string(cells[0]) + " x " + std::to_string(cells[1]) + " x " +
                    std::to_string(cells[2]) + " cells cannot be cut into " + std::to_string(blocks) +
                    " blocks of at least one cell; change --blocks or --grid.");
  }
  return best;
}

Box block_cells(std::int64_t id, const Index3& layout, const Index3& cells) {
  const Index3 at{id % layout[0], id / layout[0] % layout[1], id / layout[0] / layout[1]};
  Box box;
  for (int axis = 0; axis < 3; ++axis) {
    box.lo[axis] = cells[axis] * at[axis] / layout[axis];
    box.hi[axis] = cells[axis] * (at[axis] + 1) / layout[axis];
  }
  return box;
}

Share share_of(int rank, int ranks, std::int64_t blocks) {
  return {blocks * rank / ranks, blocks * (rank + 1) / ranks};
}

}  // namespace oscillators
