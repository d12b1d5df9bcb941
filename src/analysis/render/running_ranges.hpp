// The ranges of colours that grow from frame to frame and never shrink, so that the frames of a film can be compared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/render/scene.hpp"
#include "sidestream/extend/analysis.hpp"

namespace sidestream::rendering {

/// Of the scales of a scene with `range: running`; the scene outlives it. A table beside the frames keeps them, from
/// which a run that is resumed goes on.
class RunningRanges {
 public:
  explicit RunningRanges(const Scene& scene);

  /// Collective: widens what this iteration shows (low > high where nothing) by what was shown before. The same on all
  /// servers, and in all placements.
  void widen(std::span<ColourRange> shown, const CombineInput& input);

 private:
  [[nodiscard]] std::vector<ColourRange> kept_before(const CombineInput& input) const;
  void keep(const CombineInput& input) const;

  const Scene* scene_;
  std::string file_;  ///< of the table
  bool any_ = false, begun_ = false;
  std::vector<ColourRange> so_far_;  ///< of each scale
};

}  // namespace sidestream::rendering
