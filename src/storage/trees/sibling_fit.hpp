// Least squares: how what is left of a son follows from what is left of its siblings.
#pragma once

#include <array>

#include "storage/trees/prediction.hpp"

namespace sidestream::trees {

/// Each group counts by its own size: what is left is large at shocks, and bits are saved everywhere else.
class SiblingFit {
 public:
  explicit SiblingFit(std::size_t sons) : sons_(sons) {}
  /// Of the son at that place of the order, in a group of the tile: its value less its prediction.
  void add(std::size_t step, std::size_t group, double left) noexcept { left_[step][group] = left; }
  /// The tile had so many groups. Those with what is no number do not count.
  void end_tile(std::size_t count) noexcept;
  [[nodiscard]] SiblingWeights weights() const;

 private:
  std::size_t sons_;
  std::array<std::array<double, tile_groups>, 8> left_{};
  std::array<std::array<double, 8>, 8> products_{};
};

}  // namespace sidestream::trees
