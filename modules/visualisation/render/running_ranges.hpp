// Ranges of colours that only grow from frame to frame, so that the frames of a film are comparable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/analysis.hpp"
#include "visualisation/render/scene.hpp"

namespace sidestream::rendering {

/// Ranges of the scales of a scene with `range: running`; the scene must outlive it. They are kept in a table next to
/// the frames; a resumed run continues from that table.
class RunningRanges {
 public:
  explicit RunningRanges(const Scene& scene);

  /// Collective: widens the ranges shown in this iteration (low > high if nothing) by those shown before. The result is
  /// the same on all servers and in all placements.
  void widen(std::span<ColourRange> shown, const CombineInput& input);

 private:
  [[nodiscard]] std::vector<ColourRange> kept_before(const CombineInput& input) const;
  void keep(const CombineInput& input) const;

  const Scene* scene_;
  std::string file_;  ///< file of the table
  bool any_ = false, begun_ = false;
  std::vector<ColourRange> so_far_;  ///< by scale
};

}  // namespace sidestream::rendering
