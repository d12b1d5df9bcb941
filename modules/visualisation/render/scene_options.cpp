// Options of the analysis `render`.
#include <fmt/format.h>

#include "sidestream/kit/analysis/common_options.hpp"
#include "visualisation/render/scene.hpp"

namespace sidestream::rendering {
namespace {

void add_layer_colours(std::vector<Option>& options) {
  for (Option& option : colour_options(true)) options.push_back(std::move(option));
}

Option colour_component_option() {
  return {.name = "colour_component",
          .type = OptionType::integer,
          .default_value = "0",
          .text = "The component of `colour_by` that is shown.",
          .minimum = 0};
}

Option picture_file_option() {
  Option option = file_option("frame-{index:05}.png",
                              "The file of each frame. Or a Cinema database such as `views.cdb`: a directory with the "
                              "frames of all cameras and a table of their times and angles.");
  option.choices.push_back(".cdb");
  return option;
}

Option layer_opacity_option() {
  return {.name = "opacity",
          .type = OptionType::real,
          .default_value = "1",
          .text =
              "The part of the light that the layer keeps back, above 0. Layers below 1 are translucent: each of "
              "their faces that lie behind one another is seen.",
          .minimum = 0.001,
          .maximum = 1};
}

void add_colours(std::vector<Option>& options, const std::string& otherwise) {
  options.push_back({.name = "colour",
                     .text = fmt::format("One colour for the whole layer: `#rrggbb` or one of {}. Default: {}.",
                                         fmt::join(colour_names(), ", "), otherwise)});
  options.push_back({.name = "colour_by",
                     .type = OptionType::variable,
                     .text = "Colours the layer by the values of this variable of the same mesh."});
  options.push_back(colour_component_option());
  add_layer_colours(options);
  options.push_back(layer_opacity_option());
}

Option isosurface_layer() {
  std::vector<Option> options = isosurface_options(Purpose::picture);
  add_colours(options, "a colour of its own for a single value, the colour map for several");
  return {.name = "isosurface",
          .type = OptionType::map,
          .list = true,
          .text = "Isosurfaces in the image: one such map, or a list of them.",
          .options = std::move(options)};
}

Option slice_layer() {
  std::vector<Option> options = slice_options(Purpose::picture);
  options.push_back(component_option("The component that is shown; required if there are several."));
  add_layer_colours(options);
  options.push_back(layer_opacity_option());
  return {.name = "slice",
          .type = OptionType::map,
          .list = true,
          .text = "Planes through the data, coloured by its values: one such map, or a list of them.",
          .options = std::move(options)};
}

Option volume_layer() {
  std::vector<Option> options = volume_options();
  add_layer_colours(options);
  return {.name = "volume",
          .type = OptionType::map,
          .list = true,
          .text =
              "Values as a cloud that emits and absorbs light, by ray casting: one such map, or a list of them. Opaque "
              "and translucent layers are seen within it.",
          .options = std::move(options)};
}

Option particles_layer() {
  std::vector<Option> options = particles_options();
  options.push_back({.name = "colour",
                     .text = fmt::format("One colour for all: `#rrggbb` or one of {}. Default: one of its own.",
                                         fmt::join(colour_names(), ", "))});
  options.push_back({.name = "colour_by",
                     .type = OptionType::variable,
                     .text = "Colours each particle by its value of this variable of the mesh."});
  options.push_back(colour_component_option());
  add_layer_colours(options);
  return {.name = "particles",
          .type = OptionType::map,
          .list = true,
          .text =
              "Particles as balls or discs: one such map, or a list of them. Each particle is drawn once: flagged "
              "ghosts are not drawn, and of particles with the same `point_ids` only one is. Particles at NaN are "
              "not drawn, and those without a value (NaN) are grey. Of two at the same depth, the one with the "
              "darker red is visible, then the darker green and blue, whatever their order. The default domain "
              "contains the whole balls if they have a `radius`.",
          .options = std::move(options)};
}

Option lines_layer() {
  std::vector<Option> options = streamlines::line_options();
  add_colours(options, "one of its own");
  std::erase_if(options, [](const Option& option) { return option.name == "opacity"; });
  options.push_back({.name = "width",
                     .type = OptionType::real,
                     .text = "Width of the lines in pixels. Default: in proportion to the picture.",
                     .minimum = 0.1,
                     .maximum = 100});
  return {.name = "streamlines",
          .type = OptionType::map,
          .list = true,
          .text =
              "Stream lines of a vector field, as in `streamlines`: one such map, or a list of them. Not with "
              "`forward: partials`.",
          .options = std::move(options)};
}

Option threshold_layer() {
  std::vector<Option> options = threshold_options(Purpose::picture);
  add_colours(options, "the variable's values");
  return {.name = "threshold",
          .type = OptionType::map,
          .list = true,
          .text =
              "Boundary faces of the cells in which a variable lies in a range, as in `threshold`. One such map, or "
              "a list of them.",
          .options = std::move(options)};
}

Option clip_layer() {
  std::vector<Option> options = clip_options(Purpose::picture);
  options.push_back(component_option("The component that is shown; required if there are several."));
  add_colours(options, "the variable's values");
  return {.name = "clip",
          .type = OptionType::map,
          .list = true,
          .text =
              "Boundary faces of the part of a mesh on one side of a plane, within a box or outside of it, as in "
              "`clip`. One such map, or a list of them.",
          .options = std::move(options)};
}

}  // namespace

std::vector<Option> scene_options() {
  std::vector<Option> options{
      isosurface_layer(),
      slice_layer(),
      threshold_layer(),
      clip_layer(),
      particles_layer(),
      volume_layer(),
      lines_layer(),
      picture_size_option(),
      camera_option(),
      {.name = "domain",
       .type = OptionType::real,
       .list = true,
       .text =
           "The box that the cameras show and the outline marks: lower corner [x, y, z] and upper corner, six "
           "numbers in one list. Default: the bounds of the meshes; for meshes that publish their coordinates, those "
           "of this iteration. A fixed domain makes images of a moving mesh comparable.",
       .least_entries = 6,
       .most_entries = 6},
      {.name = "background",
       .list = true,
       .default_value = "['#ffffff', '#dfe6ee']",
       .text = "Colour of the background, or two for a gradient from top to bottom, in the format of `colour`.",
       .least_entries = 1,
       .most_entries = 2},
      {.name = "outline",
       .type = OptionType::boolean,
       .default_value = "true",
       .text = "Draws the edges of the domain."},
      {.name = "colour_bar",
       .type = OptionType::boolean,
       .default_value = "true",
       .text = "Explains the colours of each colour map in use."},
      {.name = "caption",
       .default_value = "{label}    time {time:#.5g}    cycle {cycle}",
       .text = "Text above the image; `none` for none. {label}, {time}, {cycle} and {index} are replaced, optionally "
               "with a format, as in {time:.3f}."},
      {.name = "samples",
       .type = OptionType::integer,
       .default_value = "2",
       .text = "Samples along each axis of a pixel. More samples make smoother edges, but cost memory and time.",
       .minimum = 1,
       .maximum = 4},
      picture_file_option(),
  };
  for (Option& option : colour_options(false)) options.push_back(std::move(option));
  for (Option& option : length_options()) options.push_back(std::move(option));
  return options;
}

}  // namespace sidestream::rendering
