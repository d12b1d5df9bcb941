#include "amr_codec/values/group_order.hpp"

#include <algorithm>

namespace sidestream::trees {

bool chained(const PredictionPlan& plan, const Relations& relations) noexcept {
  return plan.divergence && plan.across && relations.face->opposite < 0;
}

GroupOrder::GroupOrder(const TreeChunk& chunk, const Relations& relations)
    : cells_(chunk.groups.parent.size() * children_of(chunk)), fluxes_(new double[cells_]) {
  const FaceRelation& face = *relations.face;
  sort(chunk.groups, 2 * static_cast<std::size_t>(face.axis) + (face.high ? 1 : 0), !face.high);
  read_face_fluxes(chunk, relations, 0, cells_, fluxes_.get());
}

// Lower neighbours come earlier in the order of the tree, so that one pass finds the length of each chain.
void GroupOrder::sort(const SiblingGroups& groups, std::size_t side, bool upwards) {
  const GroupFinder finder(groups);
  const std::size_t count = groups.parent.size(), faces = 2 * static_cast<std::size_t>(groups.dimensions);
  std::vector<std::uint32_t> wave(count, 0);
  across_.resize(count);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t group = upwards ? n : count - 1 - n;
    const Index neighbour = finder.find(groups.beside[group * faces + side]);
    const auto other = static_cast<std::size_t>(neighbour < 0 ? 0 : neighbour);
    const bool before = neighbour >= 0 && (upwards ? other < group : other > group);
    across_[group] = before ? static_cast<std::int32_t>(neighbour) : -1;
    wave[group] = before ? wave[other] + 1 : 0;
  }
  sequence_.resize(count);
  ends_.assign(count == 0 ? 0 : *std::max_element(wave.begin(), wave.end()) + 1, 0);
  for (const std::uint32_t one : wave) ++ends_[one];
  for (std::size_t n = 1; n < ends_.size(); ++n) ends_[n] += ends_[n - 1];
  std::vector<std::size_t> next(ends_.size(), 0);
  for (std::size_t n = 1; n < ends_.size(); ++n) next[n] = ends_[n - 1];
  for (std::size_t group = 0; group < count; ++group)
    sequence_[next[wave[group]]++] = static_cast<std::uint32_t>(group);
}

void GroupOrder::find_across(const std::uint32_t* groups, std::size_t count, Index* out) const noexcept {
  for (std::size_t g = 0; g < count; ++g) out[g] = across_[groups[g]];
}

}  // namespace sidestream::trees
