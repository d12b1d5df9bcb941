// Options of the analysis `render`.
#include "visualisation/render/scene_options.hpp"

#include <fmt/format.h>

#include "sidestream/kit/analysis/common_options.hpp"

namespace sidestream::rendering {
namespace {

using LayerTable = OptionTable<LayerOptions>;

LayerTable read_elsewhere(std::vector<Option> options) {
  return {options_read_elsewhere<LayerOptions>(std::move(options))};
}

LayerTable colour_map() { return read_elsewhere(colour_options(true).declarations()); }

LayerTable shown_component() {
  return read_elsewhere({component_option("The component that is shown; required if there are several.")});
}

LayerTable opacity() {
  return {option("opacity", &LayerOptions::opacity,
                 "The part of the light that the layer keeps back, above 0. Layers below 1 are translucent: each of "
                 "their faces that lie behind one another is seen.",
                 {.standard = 1, .minimum = 0.001, .maximum = 1})};
}

/// One colour for `all`, or the colours of a variable.
LayerTable colours(const std::string& otherwise, const std::string& all = "the whole layer",
                   const std::string& by = "Colours the layer by the values of this variable of the same mesh.") {
  return LayerTable{option("colour", &LayerOptions::one_colour,
                           fmt::format("One colour for {}: `#rrggbb` or one of {}. Default: {}.", all,
                                       fmt::join(colour_names(), ", "), otherwise)),
                    option("colour_by", &LayerOptions::colour_by, by),
                    option("colour_component", &LayerOptions::colour_component,
                           "The component of `colour_by` that is shown.", {.standard = 0, .minimum = 0})}
      .add(colour_map());
}

LayerTable isosurface_layer() {
  return read_elsewhere(isosurface_options(Purpose::picture))
      .add(colours("a colour of its own for a single value, the colour map for several"))
      .add(opacity());
}

LayerTable slice_layer() {
  return read_elsewhere(slice_options(Purpose::picture)).add(shown_component()).add(colour_map()).add(opacity());
}

LayerTable threshold_layer() {
  return read_elsewhere(threshold_options(Purpose::picture)).add(colours("the variable's values")).add(opacity());
}

LayerTable clip_layer() {
  return read_elsewhere(clip_options(Purpose::picture))
      .add(shown_component())
      .add(colours("the variable's values"))
      .add(opacity());
}

LayerTable particles_layer() {
  return read_elsewhere(particles_options().declarations())
      .add(colours("one of its own", "all", "Colours each particle by its value of this variable of the mesh."));
}

LayerTable volume_layer() { return read_elsewhere(volume_options()).add(colour_map()); }

LayerTable lines_layer() {
  return read_elsewhere(streamlines::line_options())
      .add(colours("one of its own"))
      .add(option("width", &LayerOptions::width, "Width of the lines in pixels. Default: in proportion to the picture.",
                  {.minimum = 0.1, .maximum = 100}));
}

LayerTable patches_layer() {
  return read_elsewhere(patches_options().declarations())
      .add(LayerTable{
          option("colour", &LayerOptions::one_colour,
                 fmt::format("Colour of the lines: `#rrggbb` or one of {}.", fmt::join(colour_names(), ", ")),
                 {.standard = "#202020"}),
          option("width", &LayerOptions::width, "Width of the lines in pixels. Default: in proportion to the picture.",
                 {.minimum = 0.1, .maximum = 100})});
}

OptionTable<SceneOptions> layers() {
  using Scene = SceneOptions;
  return {
      option("isosurface", &Scene::isosurfaces, "Isosurfaces in the image: one such map, or a list of them.",
             {.options = isosurface_layer()}),
      option("slice", &Scene::slices,
             "Planes through the data, coloured by its values: one such map, or a list of them.",
             {.options = slice_layer()}),
      option("threshold", &Scene::thresholds,
             "Boundary faces of the cells in which a variable lies in a range, as in `threshold`. One such map, or a "
             "list of them.",
             {.options = threshold_layer()}),
      option("clip", &Scene::clips,
             "Boundary faces of the part of a mesh on one side of a plane, within a box or outside of it, as in "
             "`clip`. One such map, or a list of them.",
             {.options = clip_layer()}),
      option("particles", &Scene::particles,
             "Particles as balls or discs: one such map, or a list of them. Each particle is drawn once: flagged "
             "ghosts are not drawn, and of particles with the same `point_ids` only one is. Particles at NaN are not "
             "drawn, and those without a value (NaN) are grey. Of two at the same depth, the one with the darker red "
             "is visible, then the darker green and blue, whatever their order. The default domain contains the whole "
             "balls if they have a `radius`.",
             {.options = particles_layer()}),
      option("volume", &Scene::volumes,
             "Values as a cloud that emits and absorbs light, by ray casting: one such map, or a list of them. Opaque "
             "and translucent layers are seen within it.",
             {.options = volume_layer()}),
      option("streamlines", &Scene::streamlines,
             "Stream lines of a vector field, as in `streamlines`: one such map, or a list of them. Not with "
             "`forward: partials`.",
             {.options = lines_layer()}),
      option("patches", &Scene::patches,
             "Outlines of blocks, such as the patches of refinement levels, as boxes or, with a plane, as their "
             "sections with it: one such map, or a list of them. Those that are too small for it have none. No values "
             "move.",
             {.options = patches_layer()})};
}

OptionTable<SceneOptions> surroundings() {
  using Scene = SceneOptions;
  return {
      option("size", &Scene::size, picture_size_option().text,
             {.standard = "[1024, 1024]", .minimum = 16, .maximum = 16384}),
      option("camera", &Scene::cameras,
             "The camera, or a list of cameras. Data move once for all of them. The default shows the whole domain "
             "obliquely from above. It depends on the domain only, so frames can be compared.",
             {.options = camera_options()}),
      option("domain", &Scene::ends,
             "The box that the cameras show and the outline marks: lower corner [x, y, z] and upper corner, six "
             "numbers in one list. Default: the bounds of the meshes; for meshes that publish their coordinates, those "
             "of this iteration. A fixed domain makes images of a moving mesh comparable."),
      option("background", &Scene::shades,
             "Colour of the background, or two for a gradient from top to bottom, in the format of `colour`.",
             {.standard = "['#ffffff', '#dfe6ee']", .least_entries = 1, .most_entries = 2}),
      option("outline", &Scene::outline, "Draws the edges of the domain.", {.standard = true}),
      option("colour_bar", &Scene::colour_bar, "Explains the colours of each colour map in use.", {.standard = true}),
      option("caption", &Scene::caption,
             "Text above the image; `none` for none. {label}, {time}, {cycle} and {index} are replaced, optionally "
             "with a format, as in {time:.3f}.",
             {.standard = "{label}    time {time:#.5g}    cycle {cycle}"}),
      option("samples", &Scene::samples,
             "Samples along each axis of a pixel. More samples make smoother edges, but cost memory and time.",
             {.standard = 2, .minimum = 1, .maximum = 4}),
      file_option(&Scene::pattern, "frame-{index:05}.png",
                  "The file of each frame. Or a Cinema database such as `views.cdb`: a directory with the frames of "
                  "all cameras and a table of their times and angles.",
                  {".cdb"}),
      options_read_elsewhere<Scene>(colour_options(false).declarations()),
      options_read_elsewhere<Scene>(length_options().declarations())};
}

}  // namespace

const OptionTable<SceneOptions>& table_of_scene() {
  static const OptionTable<SceneOptions> table = layers().add(surroundings());
  return table;
}

std::vector<Option> scene_options() { return table_of_scene().declarations(); }

}  // namespace sidestream::rendering
