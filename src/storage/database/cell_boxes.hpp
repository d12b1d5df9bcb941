// Cells of a refined mesh in a box: on other levels, in trees, and in patches. These are the parts of list_cells().
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sidestream/data/mesh.hpp"
#include "storage/database/cell_list.hpp"

namespace sidestream::database {

inline constexpr std::int32_t most_tree_levels = 60;  ///< beyond, indices of cells do not fit 64 bits

/// Number of cells of level `to` along a cell of level `from`, which is not finer, for each axis.
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

/// A checked choice of cells.
struct CellRange {
  Box box;  ///< of cells of `level`
  std::int32_t level = 0, coarsest = 0, deepest = 0;
  bool leaves = true;
};

/// An entry of a list of cells.
struct ListedCell {
  std::int32_t level;
  Index3 index;
  bool refined;
  std::int64_t owner;
  std::uint32_t block;
  Index place;
};
void append(CellList& list, const ListedCell& cell);

/// The cells of an octree.
class TreeCells {
 public:
  TreeCells(const StoredValues& values, const Mesh& mesh, const CellRange& range)
      : values_(values), mesh_(mesh), range_(range) {}
  /// Appends the cells to a list that already has its blocks.
  void find(CellList& list);

 private:
  struct Found {
    Index3 index;
    std::uint32_t block;
    Index place;
    bool refined, owned;
  };
  void add(std::uint32_t number, const PlacedBlock& placed);
  [[nodiscard]] std::vector<std::uint8_t> owned_flags(const PlacedBlock& placed, Index cells) const;
  void put(std::int32_t level, std::vector<Found>& cells, CellList& list) const;

  const StoredValues& values_;
  const Mesh& mesh_;
  CellRange range_;
  std::vector<std::vector<Found>> found_;  ///< by level
};

/// Appends the cells of blocks that are boxes, to a list that already has its blocks.
void find_patch_cells(const Mesh& mesh, const CellRange& range, CellList& list);

}  // namespace sidestream::database
