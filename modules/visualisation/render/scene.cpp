// Reads the layers, colour scales, camera and domain of a scene from the configuration of `render`.
#include "visualisation/render/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sidestream/kit/analysis/chart.hpp"
#include "sidestream/kit/analysis/common_options.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "visualisation/graphics/annotations.hpp"

namespace sidestream::rendering {
namespace {

/// Default colours of surfaces with a single value, in order: distinct in hue and lightness.
constexpr Colour plain_colours[] = {{92, 140, 190}, {230, 134, 46}, {62, 142, 78},
                                    {200, 72, 62},  {126, 88, 165}, {222, 178, 60}};

constexpr std::size_t most_layers = 250;  ///< a layer's number has 8 bits in a sample

Colour read_colour(const Settings& settings, std::string_view name, const std::string& text) {
  if (const auto colour = parse_colour(text)) return *colour;
  settings.fail(name,
                fmt::format("found '{}' for '{}', expected a colour; write it as '#rrggbb' (in quotes) or take one "
                            "of {}",
                            text, name, fmt::join(colour_names(), ", ")));
}

std::string component_name(const Variable& variable, int component) {
  if (variable.components == 1) return {};
  if (variable.components == 3) return fmt::format(" {}", "xyz"[component]);
  return fmt::format(" {}", component);
}

std::string with_unit(const Variable& variable, const std::string& component) {
  return variable.title() + component + (variable.unit.empty() ? "" : fmt::format(" [{}]", variable.unit));
}

/// Reads the layers into a scene.
class SceneReader {
 public:
  SceneReader(const Settings& settings, const Metadata& metadata, Scene& scene)
      : settings_(settings), metadata_(metadata), scene_(scene) {}

  void read() {
    const char* const kinds[] = {"isosurface", "slice", "threshold", "clip", "particles", "volume", "streamlines"};
    if (std::ranges::all_of(kinds, [&](const char* kind) { return settings_.maps(kind).empty(); })) {
      settings_.fail("isosurface", fmt::format("found a render without '{}', so nothing would be seen; add one",
                                               fmt::join(kinds, "' or '")));
    }
    check_range_of_image(settings_);
    for (const Settings& layer : settings_.maps("isosurface")) add_isosurface(layer);
    for (const Settings& layer : settings_.maps("slice")) add_slice(layer);
    for (const Settings& layer : settings_.maps("threshold")) {
      add_part(layer, read_threshold(layer, metadata_, Purpose::picture));
    }
    for (const Settings& layer : settings_.maps("clip")) add_part(layer, read_clip(layer, metadata_, Purpose::picture));
    for (const Settings& layer : settings_.maps("particles")) add_particles(layer);
    for (const Settings& layer : settings_.maps("volume")) add_volume(layer);
    for (const Settings& layer : settings_.maps("streamlines")) add_lines(layer);
    if (scene_.layers.size() > most_layers) {
      settings_.fail("isosurface", fmt::format("found {} layers in one picture, expected at most {}; make several",
                                               scene_.layers.size(), most_layers));
    }
  }

 private:
  void add_isosurface(const Settings& settings) {
    Layer layer;
    IsosurfaceQuery query = read_isosurface(settings, metadata_, Purpose::picture);
    const Variable& variable = metadata_.variables[query.variable];
    if (settings.has("colour_by")) {
      if (settings.has("colour")) {
        settings.fail("colour", "found both 'colour' and 'colour_by' for one isosurface; remove one of them");
      }
      colour_by_field(settings, query, layer);
    } else if (settings.has("colour") || query.values.size() == 1) {
      layer.colour = settings.has("colour") ? read_colour(settings, "colour", settings.text("colour"))
                                            : plain_colours[plain_++ % std::size(plain_colours)];
    } else {
      layer.colouring = Layer::Colouring::by_value;
      ColourScale& scale = scale_for(settings, variable, query.component, layer);
      scale.values.insert(scale.values.end(), query.values.begin(), query.values.end());
    }
    layer.opacity = settings.real("opacity");
    add(variable, query.component);
    layer.query = std::move(query);
    scene_.layers.push_back(std::move(layer));
  }

  /// Adds a part of a mesh, whose boundary faces are visible.
  template <class Query>
  void add_part(const Settings& settings, Query query) {
    Layer layer;
    const Variable& variable = metadata_.variables[query.variables.front()];
    if (variable.mesh >= 0 && metadata_.mesh_of(variable).kind() == MeshKind::points) {
      settings.fail("variable", fmt::format("'{}' lies on mesh '{}', whose points have no faces to be seen",
                                            variable.name, metadata_.mesh_of(variable).name));
    }
    if (settings.has("colour")) {
      if (settings.has("colour_by")) {
        settings.fail("colour", "found both 'colour' and 'colour_by' for one part of a mesh; remove one of them");
      }
      layer.colour = read_colour(settings, "colour", settings.text("colour"));
    } else {
      const Variable* shown = &variable;
      query.shown_component = read_one_component(settings, variable);
      if (settings.has("colour_by")) {
        shown = &read_colour_field(settings, variable);
        query.shown_component = read_colour_component(settings, *shown);
        require_cells_or_nodes(settings, "colour_by", *shown, metadata_);
        if (shown->id != variable.id) {
          query.variables.push_back(shown->id);
          query.shown = 1;
        }
      }
      layer.colouring = Layer::Colouring::by_field;
      scale_for(settings, *shown, query.shown_component, layer).follows_data = true;
    }
    layer.opacity = settings.real("opacity");
    add(variable, query.shown_component);
    layer.query = std::move(query);
    scene_.layers.push_back(std::move(layer));
  }

  const Variable& read_colour_field(const Settings& settings, const Variable& variable) {
    const Variable& field = *metadata_.find_variable(settings.text("colour_by"));
    if (field.mesh != variable.mesh) {
      settings.fail(
          "colour_by",
          fmt::format("'{}' lies on mesh '{}', but '{}' on '{}'; name a variable of the same mesh", field.name,
                      metadata_.mesh_of(field).name, variable.name, metadata_.mesh_of(variable).name));
    }
    return field;
  }

  void colour_by_field(const Settings& settings, IsosurfaceQuery& query, Layer& layer) {
    const Variable& field = read_colour_field(settings, metadata_.variables[query.variable]);
    if (query.in_levels) require_in_cells(settings, "colour_by", field, metadata_.mesh_of(field));
    query.fields = {field.id};
    layer.colouring = Layer::Colouring::by_field;
    layer.attribute = read_colour_component(settings, field);
    scale_for(settings, field, layer.attribute, layer).follows_data = true;
  }

  static int read_colour_component(const Settings& settings, const Variable& field) {
    const std::int64_t component = settings.integer("colour_component");
    if (component < field.components) return static_cast<int>(component);
    settings.fail("colour_component", fmt::format("component {} of '{}' does not exist; it has {} (numbered from 0)",
                                                  component, field.name, field.components));
  }

  void add_slice(const Settings& settings) {
    Layer layer;
    SliceQuery query = read_slice(settings, metadata_, Purpose::picture);
    const Variable& variable = metadata_.variables[query.variables.front()];
    layer.colouring = Layer::Colouring::by_field;
    layer.attribute = read_one_component(settings, variable);
    scale_for(settings, variable, layer.attribute, layer).follows_data = true;
    layer.opacity = settings.real("opacity");
    add(variable, layer.attribute);
    layer.query = std::move(query);
    scene_.layers.push_back(std::move(layer));
  }

  void add_volume(const Settings& settings) {
    Layer layer;
    VolumeQuery query = read_volume(settings, metadata_);
    const Variable& variable = metadata_.variables[query.variable];
    layer.colouring = Layer::Colouring::by_field;
    ColourScale& scale = scale_for(settings, variable, query.component, layer);
    scale.follows_data = true;
    if (scale.scaling == ColourScaling::logarithmic) {
      settings.fail("scale", fmt::format("found the scale 'logarithmic' for the volume of '{}', expected one that is "
                                         "linear, as its opacities are; show a derived variable, log10({})",
                                         variable.name, variable.name));
    }
    query.range = scale.fixed;
    add(variable, query.component);
    layer.query = std::move(query);
    scene_.layers.push_back(std::move(layer));
  }

  void add_particles(const Settings& settings) {
    Layer layer;
    ParticlesQuery query = read_particles_query(settings, metadata_);
    query.in_domain = !settings_.has("domain");
    const Mesh& mesh = *metadata_.find_mesh(settings.text("mesh"));
    if (!settings.has("colour_by")) {
      layer.colour = settings.has("colour") ? read_colour(settings, "colour", settings.text("colour"))
                                            : plain_colours[plain_++ % std::size(plain_colours)];
      name(mesh.name);
    } else if (settings.has("colour")) {
      settings.fail("colour", "found both 'colour' and 'colour_by' for the same particles; remove one of them");
    } else {
      const Variable& field = *metadata_.find_variable(settings.text("colour_by"));
      if (field.mesh != mesh.id) {
        settings.fail("colour_by", fmt::format("'{}' lies on mesh '{}', not on '{}'; name a variable of the particles",
                                               field.name, metadata_.mesh_of(field).name, mesh.name));
      }
      query.colour_by = field.id;
      query.component = read_colour_component(settings, field);
      layer.colouring = Layer::Colouring::by_field;
      scale_for(settings, field, query.component, layer).follows_data = true;
      name(with_unit(field, component_name(field, query.component)));
    }
    layer.query = query;
    scene_.layers.push_back(std::move(layer));
  }

  void add_lines(const Settings& settings) {
    Layer layer;
    const Variable& variable = read_variable(settings, metadata_);
    layer.width = settings.has("width") ? settings.real("width") : 0;
    const bool by_field = settings.has("colour_by");
    if (by_field && settings.has("colour")) {
      settings.fail("colour", "found both 'colour' and 'colour_by' for the same lines; remove one of them");
    }
    const Variable& field = by_field ? read_colour_field(settings, variable) : variable;
    const streamlines::Query query = streamlines::read_lines(settings, metadata_, {field.id}, "colour_by");
    if (by_field) {
      const int component = read_colour_component(settings, field);
      layer.attribute = static_cast<int>(streamlines::value_of(query, metadata_, field.id, component));
      layer.colouring = Layer::Colouring::by_field;
      scale_for(settings, field, component, layer).follows_data = true;
    } else {
      layer.colour = settings.has("colour") ? read_colour(settings, "colour", settings.text("colour"))
                                            : plain_colours[plain_++ % std::size(plain_colours)];
    }
    name(variable.title());
    include_mesh(metadata_.mesh_of(variable));
    layer.query = query;
    scene_.layers.push_back(std::move(layer));
  }

  /// The scale of that variable and component in the layer's colours, shared with earlier layers.
  ColourScale& scale_for(const Settings& settings, const Variable& variable, int component, Layer& layer) {
    ColourScale wanted;
    wanted.variable = variable.id;
    wanted.component = component;
    wanted.colours = read_colours(settings, settings_);
    const ChosenRange range = read_range(settings, settings_);
    wanted.scaling = range.scaling;
    wanted.fixed = range.fixed;
    wanted.running = range.running;
    wanted.title = with_unit(variable, component_name(variable, component));
    const auto same = [&](const ColourScale& s) {
      return s.variable == wanted.variable && s.component == component && s.colours == wanted.colours &&
             s.scaling == wanted.scaling && s.running == wanted.running &&
             s.fixed.has_value() == wanted.fixed.has_value() &&
             (!s.fixed || (s.fixed->low == wanted.fixed->low && s.fixed->high == wanted.fixed->high));
    };
    auto found = std::find_if(scene_.scales.begin(), scene_.scales.end(), same);
    if (found == scene_.scales.end()) found = scene_.scales.insert(found, std::move(wanted));
    layer.scale = static_cast<int>(found - scene_.scales.begin());
    return *found;
  }

  /// Adds a name to the caption's label.
  void name(const std::string& shown) {
    if (scene_.label.find(shown) == std::string::npos) scene_.label += (scene_.label.empty() ? "" : ", ") + shown;
  }

  /// Adds the variable to the caption's label and its mesh to the domain.
  void add(const Variable& variable, int component) {
    name(with_unit(variable, component_name(variable, component)));
    include_mesh(metadata_.mesh_of(variable));
  }

  void include_mesh(const Mesh& mesh) {
    if (settings_.has("domain")) return;
    if (const auto* tree = dynamic_cast<const OctreeGeometry*>(mesh.geometry.get())) {
      for (std::size_t a = 0; a < 3; ++a) {
        const double length = static_cast<double>(tree->roots()[a]) * tree->spacing()[a];
        include(a, tree->origin()[a],
                a < static_cast<std::size_t>(mesh.dimensions) ? tree->origin()[a] + length : tree->origin()[a]);
      }
      scene_.domain_known = true;
      return;
    }
    if (mesh.axes() == nullptr) {
      const std::int32_t coordinates = mesh.array(Role::coordinates);
      if (std::find(scene_.coordinates.begin(), scene_.coordinates.end(), coordinates) == scene_.coordinates.end()) {
        scene_.coordinates.push_back(coordinates);
      }
      return;
    }
    const Axes& axes = *mesh.axes();
    for (std::size_t a = 0; a < 3; ++a) {
      const int axis = static_cast<int>(a);
      const Index last = axis < mesh.dimensions ? mesh.cells.hi[a] : mesh.cells.lo[a];
      include(a, axes.node(axis, mesh.cells.lo[a]), axes.node(axis, last));
    }
    scene_.domain_known = true;
  }

  /// Widens the domain along an axis.
  void include(std::size_t axis, double one_end, double other_end) {
    const auto [low, high] = std::minmax(one_end, other_end);
    scene_.domain.low[axis] = scene_.domain_known ? std::min(scene_.domain.low[axis], low) : low;
    scene_.domain.high[axis] = scene_.domain_known ? std::max(scene_.domain.high[axis], high) : high;
  }

  const Settings& settings_;
  const Metadata& metadata_;
  Scene& scene_;
  std::size_t plain_ = 0;
};

void read_domain(const Settings& settings, Scene& scene) {
  const std::vector<double> ends = settings.reals("domain");
  if (ends.empty()) return;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!std::isfinite(ends[a]) || !std::isfinite(ends[3 + a]) || ends[a] > ends[3 + a]) {
      settings.fail("domain", fmt::format("found {} to {} on axis {}, expected finite numbers, the lower one first: "
                                          "write [x, y, z] of the lower corner, then of the upper one, in one list",
                                          ends[a], ends[3 + a], "xyz"[a]));
    }
    scene.domain.low[a] = ends[a];
    scene.domain.high[a] = ends[3 + a];
  }
  scene.domain_known = true;
}

}  // namespace

bool Scene::finds_domain() const {
  return !coordinates.empty() || std::ranges::any_of(layers, [](const Layer& layer) {
    const auto* particles = std::get_if<ParticlesQuery>(&layer.query);
    return particles != nullptr && particles->in_domain;
  });
}

Scene read_scene(const Settings& settings, const Metadata& metadata) {
  Scene scene;
  read_domain(settings, scene);
  SceneReader(settings, metadata, scene).read();
  scene.views = read_cameras(settings, settings.text("file"), scene.finds_domain() ? nullptr : &scene.domain);
  scene.width = settings.integers<std::int32_t>("size").at(0);
  scene.height = settings.integers<std::int32_t>("size").at(1);
  scene.samples = settings.integer<int>("samples");
  const std::vector<std::string> background = settings.texts("background");
  scene.background.top = read_colour(settings, "background", background.front());
  scene.background.bottom = read_colour(settings, "background", background.back());
  scene.outline = settings.boolean("outline");
  scene.colour_bar = settings.boolean("colour_bar");
  scene.caption = settings.text("caption");
  if (scene.caption == "none" || scene.caption == "false") scene.caption.clear();
  try {
    static_cast<void>(expand_caption(scene.caption, scene.label, {}));
  } catch (const Error& error) {
    settings.fail("caption", error.what());
  }
  scene.lengths = read_lengths(settings, metadata, scene);
  return scene;
}

}  // namespace sidestream::rendering
