#include "visualisation/render/materials.hpp"

namespace sidestream::rendering {

bool is_drawn_in_rows(const Layer& layer, const Metadata& metadata) {
  const auto* surface = std::get_if<IsosurfaceQuery>(&layer.query);
  return surface != nullptr && layer.colouring != Layer::Colouring::by_field && extracts_by_rows(*surface, metadata);
}

/// Number 0 is the outline.
Materials::Materials(const Scene& scene, const Metadata& metadata) : scene_(&scene) {
  for (const ColourScale& scale : scene.scales) maps_.push_back(scale.colours.map());
  std::size_t count = 0;
  for (const Layer& layer : scene.layers) {
    const bool later = is_drawn_in_rows(layer, metadata) && !(layer.opacity < 1);
    numbers_.push_back({static_cast<std::uint8_t>(count + 1), later});
    count += later ? std::get<IsosurfaceQuery>(layer.query).values.size() : 1;
  }
  for (std::size_t l = 0; l < numbers_.size() && count > 255; ++l) {
    numbers_[l] = {static_cast<std::uint8_t>(l + 1), false};
  }
}

Material Materials::of(std::size_t number, std::size_t value, const Ranges& ranges) const {
  const Layer& layer = scene_->layers[number];
  const auto* surface = std::get_if<IsosurfaceQuery>(&layer.query);
  Material material;
  material.later = numbers_[number].later;
  material.layer = static_cast<std::uint8_t>(numbers_[number].first + (material.later ? value : 0));
  material.translucent = layer.opacity < 1;
  material.colour = layer.colour;
  if (layer.colouring == Layer::Colouring::by_field) {
    material.map = &maps_[layer.scale];
    material.range = ranges[layer.scale];
  } else if (layer.colouring == Layer::Colouring::by_value) {
    material.colour = maps_[layer.scale].at(ranges[layer.scale].fraction(surface->values[value]));
  }
  return material;
}

std::array<double, 256> Materials::opacities() const {
  std::array<double, 256> opacities{};
  opacities.fill(1);
  for (std::size_t l = 0; l < numbers_.size(); ++l) opacities[numbers_[l].first] = scene_->layers[l].opacity;
  return opacities;
}

Shades Materials::shades(const Ranges& ranges) const {
  Shades shades;
  for (std::size_t l = 0; l < scene_->layers.size(); ++l) {
    const auto* surface = std::get_if<IsosurfaceQuery>(&scene_->layers[l].query);
    for (std::size_t v = 0; surface != nullptr && v < surface->values.size(); ++v) {
      const Material material = of(l, v, ranges);
      if (material.later) shades.set(material.layer, material.colour);
    }
  }
  return shades;
}

}  // namespace sidestream::rendering
