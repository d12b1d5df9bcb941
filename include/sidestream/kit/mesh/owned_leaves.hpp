// The tree of one block for an analysis: its cells, and the leaves that count there.
#pragma once

#include <optional>

#include "sidestream/extend/analysis.hpp"
#include "sidestream/kit/data/tree_walk.hpp"
#include "sidestream/kit/mesh/point_values.hpp"

namespace sidestream {

/// The leaves that the block owns (`owned`, if the mesh has it). Exactly one owned leaf of all blocks contains each
/// place of the mesh. Keeps references to its inputs.
class OwnedLeaves {
 public:
  /// Returns nothing if the flags are missing. Throws Error(usage) as TreeIndex does.
  [[nodiscard]] static std::optional<OwnedLeaves> of(const LocalInput& input, const Mesh& mesh, const Block& block) {
    const BlockView* refined = input.find(mesh.array(Role::refined), block.id);
    const BlockView* owned = input.find(mesh.array(Role::owned), block.id);
    if (refined == nullptr || (owned == nullptr && mesh.array(Role::owned) >= 0)) return std::nullopt;
    return OwnedLeaves(TreeIndex(mesh, block, refined->array), owned);
  }
  [[nodiscard]] const TreeIndex& index() const noexcept { return index_; }
  [[nodiscard]] bool owns(Index leaf) const noexcept {
    return owned_ == nullptr || *owned_->array.at<std::uint8_t>(leaf, 0, 0) != 0;
  }

 private:
  OwnedLeaves(TreeIndex index, const BlockView* owned) : index_(std::move(index)), owned_(owned) {}
  TreeIndex index_;
  const BlockView* owned_;
};

}  // namespace sidestream
