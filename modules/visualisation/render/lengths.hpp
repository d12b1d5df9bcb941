// Axes and the scale bar of an image: options, the room that they need, and drawing.
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/option_table.hpp"
#include "visualisation/graphics/annotations.hpp"
#include "visualisation/graphics/axes.hpp"

namespace sidestream::rendering {

struct Scene;

/// The parts of an image that show lengths.
struct Lengths {
  bool axes = false, scale_bar = false;
  std::vector<std::string> names{};  ///< of the axes, as they are written
  AxisTitles titles{};
  std::string unit{};  ///< of the scale bar
};

/// The options `axes`, `axis_names`, `length_unit` and `scale_bar`.
[[nodiscard]] const OptionTable<Lengths>& length_options();

/// Reads them. Unless the configuration names a unit it is that of the coordinates which the scene's meshes publish, if
/// they have the same. The scene must have its layers, views and size. Throws Error(configuration).
[[nodiscard]] Lengths read_lengths(const Settings& settings, const Metadata& metadata, const Scene& scene);

/// The layout of a scene's images.
[[nodiscard]] Layout layout_of(const Scene& scene);

/// Draws the axes and the scale bar of a scene that a camera shows, with that domain. The texts overlap none of
/// `boxes`.
void draw_lengths(Image& image, const Layout& layout, const Scene& scene, const CameraSettings& camera,
                  const Domain& domain, TextBoxes& boxes);

}  // namespace sidestream::rendering
