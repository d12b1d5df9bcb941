// What the layers of a picture look like, and the numbers by which samples remember whose they are.
#pragma once

#include <vector>

#include "analysis/render/scene.hpp"
#include "analysis/render/shown_ranges.hpp"
#include "graphics/compositing.hpp"
#include "graphics/rasteriser.hpp"

namespace sidestream::rendering {

/// Whether the isosurfaces of a layer are drawn as they come, without being kept: that suffices where each is of one
/// colour. Colours by a field need its values at the vertices, which come with whole pieces only.
[[nodiscard]] bool is_drawn_in_rows(const Layer& layer, const Metadata& metadata);

/// The materials of the layers of a scene, which outlives this. Isosurfaces that are drawn in rows are lit when all is
/// drawn: each has a number of its own. If there are not enough numbers for every isosurface, all are lit as they are
/// drawn.
class Materials {
 public:
  Materials(const Scene& scene, const Metadata& metadata);

  /// Of an isosurface of a layer, or with value 0 of what has no values. Its map is valid as long as this object.
  [[nodiscard]] Material of(std::size_t layer, std::size_t value, const Ranges& ranges) const;
  /// The colours of those that are lit later.
  [[nodiscard]] Shades shades(const Ranges& ranges) const;
  /// The colours of a scale.
  [[nodiscard]] const ColourMap& map(std::size_t scale) const { return maps_[scale]; }

 private:
  /// What the samples of a layer are called: its number, or if it is lit later that of its first isosurface.
  struct Numbers {
    std::uint8_t first = 0;
    bool later = false;
  };

  const Scene* scene_;
  std::vector<ColourMap> maps_;   ///< of each scale
  std::vector<Numbers> numbers_;  ///< of each layer
};

}  // namespace sidestream::rendering
