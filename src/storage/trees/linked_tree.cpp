#include "storage/trees/linked_tree.hpp"

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

TreeDescent::TreeDescent(int dimensions, const Index3& roots) : dimensions_(dimensions) {
  const auto d = static_cast<std::size_t>(dimensions);
  Index3 size{1, 1, 1};
  for (std::size_t a = 0; a < d; ++a) size[a] = roots[a];
  cells_ = size[0] * size[1] * size[2];
  beside_.assign(static_cast<std::size_t>(cells_) * 2 * d, -1);
  Index3 at{};
  std::size_t next = 0;
  const Index3 stride{1, size[0], size[0] * size[1]};
  for (Index cell = 0; cell < cells_; ++cell) {
    for (std::size_t a = 0; a < d; ++a) {
      beside_[next++] = at[a] > 0 ? cell - stride[a] : -1;
      beside_[next++] = at[a] + 1 < size[a] ? cell + stride[a] : -1;
    }
    for (std::size_t a = 0; a < 3 && ++at[a] == size[a]; ++a) at[a] = 0;
  }
}

LevelLinks TreeDescent::descend(std::span<const std::uint8_t> refined) {
  if (static_cast<Index>(refined.size()) != cells_) {
    fail(Code::usage,
         "found refinement flags of {} cells for a level of a tree, expected {}: one for each child of the level above",
         refined.size(), cells_);
  }
  const auto d = static_cast<std::size_t>(dimensions_), faces = 2 * d, children = std::size_t{1} << d;
  LevelLinks links;
  std::vector<Index> group_of(refined.size(), -1);
  for (std::size_t cell = 0; cell < refined.size(); ++cell) {
    if (refined[cell] == 0) continue;
    group_of[cell] = static_cast<Index>(links.parent.size());
    links.parent.push_back(static_cast<Index>(cell));
    const auto own = beside_.begin() + static_cast<std::ptrdiff_t>(cell * faces);
    links.beside.insert(links.beside.end(), own, own + static_cast<std::ptrdiff_t>(faces));
  }
  std::vector<Index> below(links.parent.size() * children * faces, -1);
  for (std::size_t group = 0; group < links.parent.size(); ++group) {
    for (std::size_t child = 0; child < children; ++child) {
      for (std::size_t face = 0; face < faces; ++face) {
        const std::size_t across = child ^ (std::size_t{1} << (face / 2));
        const bool inside = (child >> (face / 2) & 1) != face % 2;
        const Index neighbour = inside ? static_cast<Index>(group) : links.beside[group * faces + face];
        const Index other = inside || neighbour < 0 ? neighbour : group_of[static_cast<std::size_t>(neighbour)];
        if (other >= 0)
          below[(group * children + child) * faces + face] =
              other * static_cast<Index>(children) + static_cast<Index>(across);
      }
    }
  }
  beside_ = std::move(below);
  cells_ = static_cast<Index>(links.parent.size() * children);
  return links;
}

LinkedTree::LinkedTree(const Mesh& mesh, std::vector<std::uint8_t> refined)
    : roots_(dynamic_cast<const OctreeGeometry&>(*mesh.geometry).roots()), refined_(std::move(refined)) {
  shape_ = *tree_shape(mesh);
  std::optional<std::vector<Index>> starts = tree_starts(shape_, refined_);
  if (!starts) {
    fail(Code::usage,
         "the flags 'refined' of the mesh '{}' are not those of a tree of {} cells over {} x {} x {} root cells",
         mesh.name, refined_.size(), roots_[0], roots_[1], roots_[2]);
  }
  starts_ = std::move(*starts);
}

const std::vector<LevelLinks>& LinkedTree::links() {
  if (!links_.empty() || levels() < 2) return links_;
  TreeDescent descent(shape_.dimensions, roots_);
  for (std::size_t level = 0; level + 2 < starts_.size(); ++level) {
    const auto first = static_cast<std::size_t>(starts_[level]);
    links_.push_back(descent.descend(refined().subspan(first, static_cast<std::size_t>(starts_[level + 1]) - first)));
  }
  return links_;
}

std::size_t LevelCuts::chunk_of(Index cell) const noexcept {
  return static_cast<std::size_t>(std::upper_bound(cells.begin(), cells.end(), cell) - cells.begin()) - 1;
}

LevelCuts cut_levels(const LinkedTree& tree, std::uint64_t cell_bytes, std::uint64_t chunk) {
  const auto group = std::uint64_t{1} << tree.shape().dimensions;
  const auto most = static_cast<Index>(chunk / (cell_bytes * group) * group);
  LevelCuts cuts;
  for (std::size_t level = 0; most > 0 && level + 1 < tree.starts().size(); ++level) {
    for (Index first = tree.starts()[level]; first < tree.starts()[level + 1]; first = cuts.cells.back()) {
      cuts.cells.push_back(std::min(first + most, tree.starts()[level + 1]));
      cuts.level.push_back(static_cast<std::int32_t>(level));
    }
  }
  return cuts;
}

}  // namespace sidestream
