// Content of an image, as configured.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "visualisation/extract/extract.hpp"
#include "visualisation/extract/part_query.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/graphics/compositing.hpp"
#include "visualisation/lines/lines.hpp"
#include "visualisation/render/cameras.hpp"
#include "visualisation/render/colour_options.hpp"
#include "visualisation/render/lengths.hpp"
#include "visualisation/render/particles.hpp"
#include "visualisation/render/patches.hpp"
#include "visualisation/render/volume.hpp"

namespace sidestream::rendering {

/// A colour map and its range. Layers that show the same component of the same variable in the same colours share one,
/// and so one colour bar.
struct ColourScale {
  std::int32_t variable = -1;
  int component = 0;
  ChosenColours colours;
  ColourScaling scaling = ColourScaling::linear;
  std::optional<ColourRange> fixed;  ///< from the configuration
  bool running = false;              ///< it includes the ranges of earlier iterations
  std::vector<double> values;        ///< values that the range always contains: of isosurfaces coloured by value
  bool follows_data = false;         ///< a layer's values are only known when they are extracted
  std::string title;

  /// True if the range must be found in each iteration.
  [[nodiscard]] bool is_open() const noexcept { return follows_data && !fixed; }
};

/// One layer of the image.
struct Layer {
  enum class Colouring {
    plain,     ///< one colour
    by_value,  ///< each isosurface in the colour of its value
    by_field,  ///< by values at the vertices
  };
  using Query = std::variant<IsosurfaceQuery, SliceQuery, ThresholdQuery, ClipQuery, ParticlesQuery, VolumeQuery,
                             streamlines::Query, PatchesQuery>;
  Query query;
  Colouring colouring = Colouring::plain;
  Colour colour;
  double opacity = 1;
  double width = 0;   ///< of lines, in pixels; 0: in proportion to the picture
  int scale = -1;     ///< index in Scene::scales; -1 for plain
  int attribute = 0;  ///< index in Piece::data, for by_field
};

struct Scene {
  std::vector<Layer> layers;
  std::vector<ColourScale> scales;
  Domain domain;  ///< domain of the meshes with axes, or the configured one
  bool domain_known = false;
  /// Coordinates of meshes that publish them. The domain is then found in each iteration from these, and from the
  /// particles of some layers.
  std::vector<std::int32_t> coordinates;
  std::vector<CameraView> views;  ///< at least one; each has its picture of every iteration
  int width = 1024, height = 1024, samples = 2;
  Background background;
  bool outline = true, colour_bar = true;
  Lengths lengths;
  std::string caption;  ///< pattern; empty: none
  std::string label;    ///< replaces {label}

  /// The file of the first view. Tables next to the pictures get its name.
  [[nodiscard]] const std::string& file() const { return views.front().file; }
  /// True if the domain is found in each iteration.
  [[nodiscard]] bool finds_domain() const;
};

/// The options of the analysis `render`, and the scene they describe. Throws Error(configuration).
[[nodiscard]] std::vector<Option> scene_options();
[[nodiscard]] Scene read_scene(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream::rendering
