// A chunk's groups in another order: each behind the one beside it that its faces are predicted from.
#pragma once

#include <vector>

#include "storage/trees/prediction.hpp"

namespace sidestream::trees {

/// Whether a plan asks for one.
[[nodiscard]] bool chained(const PredictionPlan& plan, const Relations& relations) noexcept;

/// Groups go by waves. Those of the first have nothing beside them in the chunk, at the end of the axis that the
/// variable's faces are at; the neighbours of those of the second are in the first; and so on.
class Arrangement {
 public:
  /// For a plan that is `chained`.
  Arrangement(const TreeChunk& chunk, const Relations& relations);
  /// In the new order, but for the companions: of these only flows() are needed. Refers to this object and to the old
  /// chunk.
  [[nodiscard]] const TreeChunk& chunk() const noexcept { return chunk_; }
  /// Of each cell, in the new order, Predictor's flow.
  [[nodiscard]] std::span<const double> flows() const noexcept { return flows_; }
  /// Where waves end, in groups.
  [[nodiscard]] const std::vector<std::size_t>& ends() const noexcept { return ends_; }
  [[nodiscard]] Bytes arranged(BytesView values, std::size_t size) const;
  void restore(BytesView arranged, std::size_t size, std::span<std::byte> values) const;

 private:
  void order(const SiblingGroups& groups, std::size_t side, bool upwards);
  std::size_t sons_;
  std::vector<std::size_t> sequence_, ends_;
  std::vector<Index> father_, beside_;
  std::vector<double> flows_;
  TreeChunk chunk_;
};

}  // namespace sidestream::trees
