// An order of groups in which each comes after the neighbour that predicts its faces and flux.
#pragma once

#include <memory>
#include <vector>

#include "amr_codec/values/chunk_view.hpp"
#include "amr_codec/values/prediction.hpp"

namespace sidestream::trees {

/// True if a plan needs such an order.
[[nodiscard]] bool chained(const PredictionPlan& plan, const Relations& relations) noexcept;

/// Orders groups by waves. Groups of the first wave have no neighbour in the chunk at the variable's face; neighbours
/// of the second wave are in the first one; and so on.
class GroupOrder {
 public:
  /// Orders the groups of a chunk; the plan must be `chained`.
  GroupOrder(const TreeChunk& chunk, const Relations& relations);
  /// The groups in the new order.
  [[nodiscard]] std::span<const std::uint32_t> sequence() const noexcept { return sequence_; }
  /// The flux of each cell (read_face_fluxes).
  [[nodiscard]] std::span<const double> fluxes() const noexcept { return {fluxes_.get(), cells_}; }
  /// The number of groups up to the end of each wave.
  [[nodiscard]] const std::vector<std::size_t>& ends() const noexcept { return ends_; }
  /// Finds the neighbours of `count` groups at the face, which are in the wave before; -1: none.
  void find_across(const std::uint32_t* groups, std::size_t count, Index* out) const noexcept;

 private:
  void sort(const SiblingGroups& groups, std::size_t side, bool upwards);
  std::vector<std::uint32_t> sequence_;
  std::vector<std::size_t> ends_;
  std::vector<std::int32_t> across_;
  std::size_t cells_;
  std::unique_ptr<double[]> fluxes_;
};

/// Computes the net flux through the other faces of a cell, for the cells [first, first + count). A flux is the length
/// along the variable's axis times a sum over the other axes, in their order. The sum's terms are (high face - low
/// face) / (length along that axis). The companions have been checked before.
void read_face_fluxes(const TreeChunk& chunk, const Relations& relations, std::size_t first, std::size_t count,
                      double* out);

}  // namespace sidestream::trees
