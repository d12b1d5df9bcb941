// A chunk's groups in another order: each behind the one beside it that its faces are predicted from.
#pragma once

#include <memory>
#include <vector>

#include "storage/trees/values/prediction.hpp"

namespace sidestream::trees {

/// Whether a plan asks for one.
[[nodiscard]] bool chained(const PredictionPlan& plan, const Relations& relations) noexcept;

/// Groups go by waves. Those of the first have nothing beside them in the chunk, at the end of the axis that the
/// variable's faces are at; the neighbours of those of the second are in the first; and so on.
class GroupOrder {
 public:
  /// For a plan that is `chained`.
  GroupOrder(const TreeChunk& chunk, const Relations& relations);
  /// The groups in the new order.
  [[nodiscard]] std::span<const std::uint32_t> sequence() const noexcept { return sequence_; }
  /// Of each cell Predictor's flux.
  [[nodiscard]] std::span<const double> fluxes() const noexcept { return {fluxes_.get(), cells_}; }
  /// Where waves end, in groups.
  [[nodiscard]] const std::vector<std::size_t>& ends() const noexcept { return ends_; }
  /// Of `count` groups the one beside each at the end of the axis, which is in the wave before; -1: none.
  void find_across(const std::uint32_t* groups, std::size_t count, Index* out) const noexcept;

 private:
  void sort(const SiblingGroups& groups, std::size_t side, bool upwards);
  std::vector<std::uint32_t> sequence_;
  std::vector<std::size_t> ends_;
  std::vector<std::int32_t> across_;
  std::size_t cells_;
  std::unique_ptr<double[]> fluxes_;
};

}  // namespace sidestream::trees
