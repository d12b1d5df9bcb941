// Boxes of cells on other levels of a refined mesh.
#pragma once

#include <algorithm>
#include <limits>

#include "sidestream/data/mesh.hpp"

namespace sidestream::database {

inline constexpr std::int32_t most_tree_levels = 60;  ///< beyond, indices of cells do not fit 64 bits

/// Number of cells of level `to` along one of level `from`, which is no finer, for each axis.
[[nodiscard]] inline Index3 ratio_of(const Mesh& mesh, std::int32_t from, std::int32_t to) {
  Index3 ratio{1, 1, 1};
  for (std::int32_t level = from; level < to; ++level) {
    for (std::size_t a = 0; a < 3; ++a) {
      const bool used = static_cast<int>(a) < mesh.dimensions;
      ratio[a] *=
          mesh.kind() == MeshKind::octree ? (used ? 2 : 1) : mesh.refinement.at(static_cast<std::size_t>(level))[a];
    }
  }
  return ratio;
}

/// All cells of level 0.
[[nodiscard]] inline Box base_cells(const Mesh& mesh) {
  if (mesh.kind() != MeshKind::octree) return mesh.cells;
  return {{0, 0, 0}, static_cast<const OctreeGeometry&>(*mesh.geometry).roots()};
}

/// The cells of level `to` that meet cells `box` of level `from`.
[[nodiscard]] inline Box on_level(const Mesh& mesh, const Box& box, std::int32_t from, std::int32_t to) {
  constexpr Index most = Index{1} << 62;
  const auto scaled = [](Index n, Index ratio) {
    Index product = 0;
    return __builtin_mul_overflow(n, ratio, &product) ? (n < 0 ? -most : most) : product;
  };
  const auto below = [](Index n, Index ratio) { return n / ratio - (n % ratio < 0 ? 1 : 0); };
  const Index3 ratio = ratio_of(mesh, std::min(from, to), std::max(from, to));
  Box found = box;
  for (std::size_t a = 0; a < 3; ++a) {
    if (to >= from) {
      found.lo[a] = scaled(box.lo[a], ratio[a]);
      found.hi[a] = scaled(box.hi[a], ratio[a]);
    } else {
      found.lo[a] = below(box.lo[a], ratio[a]);
      found.hi[a] = -below(-box.hi[a], ratio[a]);
    }
  }
  return found;
}

}  // namespace sidestream::database
