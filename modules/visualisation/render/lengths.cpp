#include "visualisation/render/lengths.hpp"

#include <algorithm>
#include <optional>

#include "visualisation/graphics/annotations.hpp"
#include "visualisation/render/scene.hpp"

namespace sidestream::rendering {
namespace {

/// The unit that all published coordinates of a scene have; empty if they differ, or if there are none.
std::string unit_of_coordinates(const Scene& scene, const Metadata& metadata) {
  std::vector<std::int32_t> coordinates = scene.coordinates;
  for (const Layer& layer : scene.layers) {
    if (const auto* particles = std::get_if<ParticlesQuery>(&layer.query)) {
      coordinates.push_back(particles->coordinates);
    }
  }
  std::optional<std::string> common;
  for (const std::int32_t id : coordinates) {
    const std::string& unit = metadata.variables.at(static_cast<std::size_t>(id)).unit;
    if (common && *common != unit) return {};
    common = unit;
  }
  return common.value_or("");
}

}  // namespace

const OptionTable<Lengths>& length_options() {
  static const OptionTable<Lengths> table{
      option("axes", &Lengths::axes,
             "Axes with ticks, numbers and names along edges of the domain. Numbers and names that would overlap "
             "other texts, or leave the image, are left out.",
             {.standard = false}),
      option("axis_names", &Lengths::names, "Names of the axes.",
             {.standard = "[x, y, z]", .least_entries = 1, .most_entries = 3}),
      option("length_unit", &Lengths::unit,
             "Unit of lengths, for the axes and the scale bar. Default: that of the coordinates which the meshes "
             "publish, if these have one."),
      option("scale_bar", &Lengths::scale_bar,
             "A bar of a round length below the domain, for cameras with `projection: parallel` and for flat domains "
             "seen from the front: otherwise lengths differ from place to place.",
             {.standard = false})};
  return table;
}

Lengths read_lengths(const Settings& settings, const Metadata& metadata, const Scene& scene) {
  Lengths lengths;
  lengths.unit = unit_of_coordinates(scene, metadata);
  length_options().fill(settings, metadata, lengths);
  lengths.titles.units.fill(lengths.unit);
  std::ranges::copy(lengths.names, lengths.titles.names.begin());
  // A domain that is found in the data may turn out to be flat.
  if (!lengths.scale_bar || scene.finds_domain()) return lengths;
  const bool equal = std::ranges::all_of(scene.views, [&](const CameraView& view) {
    return length_of_a_pixel(scene.domain, {view.at({}), scene.domain, layout_of(scene).viewport()}) > 0;
  });
  if (equal) return lengths;
  length_options().fail(settings, &Lengths::scale_bar,
                        "found a scale bar for a camera with perspective, with which lengths differ from place to "
                        "place; write `projection: parallel` for the camera, or `axes: true` instead");
}

Layout layout_of(const Scene& scene) {
  Layout layout(scene.width, scene.height, scene.colour_bar ? static_cast<int>(scene.scales.size()) : 0,
                !scene.caption.empty());
  if (scene.lengths.axes) layout.add_axes();
  if (scene.lengths.scale_bar) layout.add_scale_bar();
  return layout;
}

void draw_lengths(Image& image, const Layout& layout, const Scene& scene, const CameraSettings& settings,
                  const Domain& domain, TextBoxes& boxes) {
  if (!scene.lengths.axes && !scene.lengths.scale_bar) return;
  const Camera camera(settings, domain, layout.viewport());
  if (scene.lengths.axes) draw_axes(image, layout, domain, camera, scene.lengths.titles, boxes);
  if (!scene.lengths.scale_bar) return;
  draw_scale_bar(image, layout, length_of_a_pixel(domain, camera), scene.lengths.unit, boxes);
}

}  // namespace sidestream::rendering
