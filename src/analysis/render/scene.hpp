// What a picture shows, as the configuration states it.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/common/extract/extract.hpp"
#include "analysis/common/extract/part_query.hpp"
#include "analysis/render/particles.hpp"
#include "graphics/camera.hpp"
#include "graphics/colour.hpp"
#include "graphics/compositing.hpp"

namespace sidestream::rendering {

/// A colour map with the range that it spans. Layers that show the same component of the same variable in the
/// same colours share one, and so one colour bar.
struct ColourScale {
  std::int32_t variable = -1;
  int component = 0;
  std::string colours;
  std::optional<ColourRange> fixed;  ///< from the configuration
  bool running = false;              ///< it spans what was shown in iterations before, too
  std::vector<double> values;        ///< that the range contains in any case: those of isosurfaces coloured by value
  bool follows_data = false;         ///< a layer's values are only known when they are extracted
  std::string title;

  /// Whether the range must be found anew in each iteration.
  [[nodiscard]] bool is_open() const noexcept { return follows_data && !fixed; }
};

/// One thing in the picture.
struct Layer {
  enum class Colouring {
    plain,     ///< one colour
    by_value,  ///< each isosurface in the colour of its value
    by_field,  ///< by numbers at the vertices
  };
  using Query = std::variant<IsosurfaceQuery, SliceQuery, ThresholdQuery, ClipQuery, ParticlesQuery>;
  Query query;
  Colouring colouring = Colouring::plain;
  Colour colour;
  int scale = -1;     ///< index into Scene::scales; -1 for plain
  int attribute = 0;  ///< of Piece::data, for by_field
};

struct Scene {
  std::vector<Layer> layers;
  std::vector<ColourScale> scales;
  Domain domain;  ///< of the meshes with axes, or what the configuration says
  bool domain_known = false;
  /// Of meshes that say where they are, their coordinates: the domain is found in each iteration, as far as these (and
  /// the particles of some layers) reach.
  std::vector<std::int32_t> coordinates;
  CameraSettings camera;
  int width = 1024, height = 1024, samples = 2;
  Background background;
  bool outline = true, colour_bar = true;
  std::string caption;  ///< pattern; empty: none
  std::string label;    ///< what {label} stands for
  std::string file;

  /// Whether the domain is found anew in each iteration.
  [[nodiscard]] bool finds_domain() const;
};

/// The options of the analysis `render`, and the scene they describe. Throws Error(configuration).
[[nodiscard]] std::vector<Option> scene_options();
[[nodiscard]] Scene read_scene(const Settings& settings, const Metadata& metadata);

}  // namespace sidestream::rendering
