#include "sidestream/data/catalogue.hpp"

#include <algorithm>

namespace sidestream {

std::array<std::array<double, 3>, 2> bounds_of(const Mesh& mesh, const Box& cells) {
  std::array<std::array<double, 3>, 2> bounds{};
  const Axes* axes = mesh.geometry ? mesh.geometry->axes() : nullptr;
  for (int a = 0; a < 3; ++a) {
    const double lower = axes ? axes->node(a, cells.lo[a]) : static_cast<double>(cells.lo[a]);
    const double upper = axes ? axes->node(a, cells.hi[a]) : static_cast<double>(cells.hi[a]);
    bounds[0][static_cast<std::size_t>(a)] = std::min(lower, upper);
    bounds[1][static_cast<std::size_t>(a)] = std::max(lower, upper);
  }
  return bounds;
}

std::uint64_t bytes_of(const Variable& variable, const Block& block) {
  return packed_bytes(variable.points(block.cells), variable.components, variable.type);
}

}  // namespace sidestream
