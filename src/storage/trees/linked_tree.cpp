#include "storage/trees/linked_tree.hpp"

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

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
