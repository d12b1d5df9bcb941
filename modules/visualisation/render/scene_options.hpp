// The content of an image as it is written.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/option_table.hpp"
#include "visualisation/render/scene.hpp"

namespace sidestream::rendering {

/// A layer without its query and its colour map, which are read from the same map.
struct LayerOptions : Layer {
  std::optional<std::string> one_colour{};
  std::optional<Variable> colour_by{};
  std::int64_t colour_component = 0;
};

struct SceneOptions : Scene {
  std::vector<LayerOptions> isosurfaces{}, slices{}, thresholds{}, clips{}, particles{}, volumes{}, streamlines{},
      patches{};
  std::array<std::int32_t, 2> size{};
  std::vector<Settings> cameras{};
  std::optional<std::array<double, 6>> ends{};  ///< of the domain
  std::vector<std::string> shades{};            ///< of the background, from top to bottom
  std::string pattern{};                        ///< of the files
};

[[nodiscard]] const OptionTable<SceneOptions>& table_of_scene();

}  // namespace sidestream::rendering
