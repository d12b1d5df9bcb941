// Least-squares fit that predicts a child's residual from its siblings' residuals and the curvature of the parent
// level.
#pragma once

#include <array>

#include "amr_codec/values/prediction.hpp"

namespace sidestream::trees {

/// Each group is weighted by the inverse of its own residuals. They are large at shocks, but bits are saved elsewhere.
class CorrectionFit {
 public:
  static constexpr std::size_t width = 16;  ///< length of a row, a multiple of the vector registers
  CorrectionFit(std::size_t children, std::size_t dimensions, bool curved)
      : children_(children), dimensions_(dimensions), curved_(curved) {}
  /// Sets the residual of the child at place `step` of the order in a group of the tile.
  void add(std::size_t step, std::size_t group, double left) noexcept { terms_[group][step] = left; }
  /// Sets another term of a group.
  void add_term(std::size_t term, std::size_t group, double value) noexcept { terms_[group][term] = value; }
  /// Ends a tile of `count` groups. Groups with a NaN do not count.
  void end_tile(std::size_t count) noexcept;
  [[nodiscard]] CorrectionWeights weights() const;

 private:
  std::size_t children_, dimensions_;
  bool curved_;
  std::array<std::array<double, width>, tile_groups> terms_{};
  std::array<std::array<double, width>, width> products_{};
};

}  // namespace sidestream::trees
