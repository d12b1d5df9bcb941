// Least squares: how what is left of a child follows from what is left of its siblings, and from how parents are
// curved.
#pragma once

#include <array>

#include "storage/trees/values/prediction.hpp"

namespace sidestream::trees {

/// Each group counts by its own size: what is left is large at shocks, and bits are saved everywhere else.
class CorrectionFit {
 public:
  static constexpr std::size_t width = 16;  ///< a row that registers are filled by
  CorrectionFit(std::size_t children, std::size_t dimensions, bool curved)
      : children_(children), dimensions_(dimensions), curved_(curved) {}
  /// Of the child at that place of the order, in a group of the tile: its value less its prediction.
  void add(std::size_t step, std::size_t group, double left) noexcept { terms_[group][step] = left; }
  /// Of a group what else there is.
  void add_term(std::size_t term, std::size_t group, double value) noexcept { terms_[group][term] = value; }
  /// The tile had so many groups. Those with what is no number do not count.
  void end_tile(std::size_t count) noexcept;
  [[nodiscard]] CorrectionWeights weights() const;

 private:
  std::size_t children_, dimensions_;
  bool curved_;
  std::array<std::array<double, width>, tile_groups> terms_{};
  std::array<std::array<double, width>, width> products_{};
};

}  // namespace sidestream::trees
