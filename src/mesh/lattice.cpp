#include "sidestream/kit/mesh/lattice.hpp"

#include <bit>
#include <cmath>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/mesh/place_names.hpp"
#include "sidestream/kit/mesh/point_grid.hpp"

namespace sidestream {
namespace {

constexpr int lattice_bits = 60;  ///< sums of two coordinates must not overflow

std::vector<Index3> steps_of_tree(const OctreeGeometry& tree, int dimensions) {
  Index widest = 1;
  for (const Index roots : tree.roots()) widest = std::max(widest, roots);
  const int deepest = lattice_bits - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(widest)));
  std::vector<Index3> steps;
  for (int level = 0; level <= deepest; ++level) {
    Index3& of = steps.emplace_back(Index3{1, 1, 1});
    for (int a = 0; a < dimensions; ++a) of[static_cast<std::size_t>(a)] = Index{1} << (deepest - level);
  }
  return steps;
}

std::vector<Index3> steps_of_levels(const Mesh& mesh) {
  std::vector<Index3> steps(mesh.refinement.size() + 1, Index3{1, 1, 1});
  for (std::size_t level = mesh.refinement.size(); level-- > 0;) {
    for (std::size_t a = 0; a < 3; ++a) steps[level][a] = steps[level + 1][a] * mesh.refinement[level][a];
  }
  return steps;
}

}  // namespace

Lattice::Lattice(const Mesh& mesh) : mesh_(mesh) {
  if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
    steps_ = steps_of_tree(*tree, mesh.dimensions);
    domain_ = {{0, 0, 0}, tree->roots()};
  } else {
    steps_ = steps_of_levels(mesh);
    domain_ = mesh.cells;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    domain_.lo[a] *= steps_[0][a];
    domain_.hi[a] *= steps_[0][a];
  }
}

const Index3& Lattice::steps(std::int32_t level) const {
  if (level >= 0 && static_cast<std::size_t>(level) < steps_.size()) return steps_[static_cast<std::size_t>(level)];
  fail(Code::analysis, "the mesh '{}' has a cell on level {}; surfaces know its levels 0 to {}: {}", mesh_.name, level,
       steps_.size() - 1,
       mesh_.kind() == MeshKind::octree ? "refine less deeply" : "declare the mesh's `refinement` for all levels");
}

Box Lattice::box(const TreeCell& cell) const {
  const Index3& along = steps(cell.level);
  Box box;
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] = cell.index[a] * along[a];
    box.hi[a] = box.lo[a] + along[a];
  }
  return box;
}

std::array<double, 3> Lattice::centre(const TreeCell& cell) const {
  std::array<double, 3> x{0, 0, 0};
  const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh_.geometry.get());
  if (tree == nullptr) {
    const LevelAxes axes(mesh_, cell.level);
    for (int a = 0; a < 3; ++a) {
      const auto d = static_cast<std::size_t>(a);
      x[d] = a < mesh_.dimensions ? axes.position(Centering::cell, a, cell.index[d]) : axes.node(a, cell.index[d]);
    }
    return x;
  }
  for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.dimensions); ++a) {
    const auto halves = static_cast<double>(2 * cell.index[a] + 1);
    x[a] = tree->origin()[a] + tree->spacing()[a] * std::ldexp(halves, -(cell.level + 1));
  }
  return x;
}

bool Lattice::mirrored() const noexcept {
  const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh_.geometry.get());
  const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh_.geometry.get());
  bool mirrored = false;
  for (std::size_t a = 0; a < static_cast<std::size_t>(mesh_.dimensions); ++a) {
    const double spacing = tree != nullptr ? tree->spacing()[a] : uniform != nullptr ? uniform->spacing()[a] : 1;
    mirrored = mirrored != (spacing < 0);
  }
  return mirrored;
}

std::int64_t Lattice::name(const TreeCell& cell) const {
  Index3 extents{1, 1, 1};
  TreeCell from = cell;  // counted from 0
  for (std::size_t a = 0; a < 3; ++a) {
    const Index along = steps(cell.level)[a];
    extents[a] = domain_.extent(static_cast<int>(a)) / along;
    from.index[a] -= domain_.lo[a] / along;
  }
  return name_of(from, extents, mesh_.dimensions).a;
}

}  // namespace sidestream
