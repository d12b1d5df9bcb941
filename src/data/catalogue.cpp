#include "sidestream/data/catalogue.hpp"

#include <algorithm>

#include "data/levels.hpp"

namespace sidestream {

std::array<std::array<double, 3>, 2> bounds_of(const Mesh& mesh, const Box& cells) {
  std::array<std::array<double, 3>, 2> bounds{};
  const Axes* axes = mesh.geometry ? mesh.geometry->axes() : nullptr;
  for (int a = 0; a < 3; ++a) {
    // A mesh has no extent along an axis that it does not use.
    const Index last = a < mesh.dimensions ? cells.hi[a] : cells.lo[a];
    const double lower = axes ? axes->node(a, cells.lo[a]) : static_cast<double>(cells.lo[a]);
    const double upper = axes ? axes->node(a, last) : static_cast<double>(last);
    bounds[0][static_cast<std::size_t>(a)] = std::min(lower, upper);
    bounds[1][static_cast<std::size_t>(a)] = std::max(lower, upper);
  }
  return bounds;
}

Box covering(const Mesh& mesh, const Block& block, Index more) {
  if (block.level > static_cast<std::int32_t>(mesh.refinement.size())) return mesh.cells;
  const Index3 ratio = mesh.ratio_to(block.level);
  const auto coarse = [&](Index cell, int a) { return cell / ratio[a] - (cell % ratio[a] < 0 ? 1 : 0); };
  Box box;
  for (int a = 0; a < 3; ++a) {
    box.lo[a] = coarse(block.cells.lo[a], a);
    box.hi[a] = coarse(block.cells.hi[a] + more - 1, a) + 1;
  }
  return intersection(box, mesh.cells);
}

Bounds bounds_of(const Mesh& mesh, const Block& block) {
  if (mesh.axes() != nullptr) {
    const auto [low, high] = bounds_of(mesh, block.level > 0 ? covering(mesh, block, 0) : block.cells);
    return {low, high};
  }
  if (block.bounds.known()) return block.bounds;
  constexpr double infinity = Bounds::infinity;
  return {{-infinity, -infinity, -infinity}, {infinity, infinity, infinity}};
}

std::uint64_t bytes_of(const Variable& variable, const Block& block) {
  return packed_bytes(variable.points(block), variable.components, variable.type);
}

}  // namespace sidestream
