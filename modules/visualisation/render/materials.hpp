// Materials of the layers of an image, and their numbers in samples.
#pragma once

#include <array>
#include <vector>

#include "visualisation/graphics/compositing.hpp"
#include "visualisation/graphics/rasteriser.hpp"
#include "visualisation/render/scene.hpp"
#include "visualisation/render/shown_ranges.hpp"

namespace sidestream::rendering {

/// True if the isosurfaces of a layer are drawn row by row without being kept, which requires a single colour for each.
/// Colours by a field need its values at the vertices, which only whole pieces have.
[[nodiscard]] bool is_drawn_in_rows(const Layer& layer, const Metadata& metadata);

/// The materials of a scene's layers; the scene must outlive this. Isosurfaces drawn in rows are lit when everything is
/// drawn; each has its own number. If there are not enough numbers for all isosurfaces, all are lit as they are drawn.
class Materials {
 public:
  Materials(const Scene& scene, const Metadata& metadata);

  /// Material of an isosurface of a layer; value 0 for layers without values. Its map is valid as long as this object.
  [[nodiscard]] Material of(std::size_t layer, std::size_t value, const Ranges& ranges) const;
  /// Opacity by the number of a sample.
  [[nodiscard]] std::array<double, 256> opacities() const;
  /// Colours of the materials that are lit later.
  [[nodiscard]] Shades shades(const Ranges& ranges) const;
  /// Colour map of a scale.
  [[nodiscard]] const ColourMap& map(std::size_t scale) const { return maps_[scale]; }

 private:
  /// Numbers of a layer's samples: the layer's number, or, if it is lit later, the number of its first isosurface.
  struct Numbers {
    std::uint8_t first = 0;
    bool later = false;
  };

  const Scene* scene_;
  std::vector<ColourMap> maps_;   ///< by scale
  std::vector<Numbers> numbers_;  ///< by layer
};

}  // namespace sidestream::rendering
