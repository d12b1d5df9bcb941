// Reads the layers, colour scales, camera and domain of a scene from the configuration of `render`.
#include "visualisation/render/scene_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

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
  SceneReader(const Settings& settings, const Metadata& metadata, SceneOptions& scene)
      : settings_(settings), metadata_(metadata), scene_(scene) {}

  void read() {
    using Layers = std::vector<LayerOptions> SceneOptions::*;
    using Add = void (SceneReader::*)(const Settings&, LayerOptions&);
    const std::pair<Layers, Add> kinds[] = {{&SceneOptions::isosurfaces, &SceneReader::add_isosurface},
                                            {&SceneOptions::slices, &SceneReader::add_slice},
                                            {&SceneOptions::thresholds, &SceneReader::add_threshold},
                                            {&SceneOptions::clips, &SceneReader::add_clip},
                                            {&SceneOptions::particles, &SceneReader::add_particles},
                                            {&SceneOptions::volumes, &SceneReader::add_volume},
                                            {&SceneOptions::streamlines, &SceneReader::add_lines},
                                            {&SceneOptions::patches, &SceneReader::add_patches}};
    if (std::ranges::all_of(kinds, [&](const auto& kind) { return (scene_.*kind.first).empty(); })) {
      std::vector<std::string> names;
      for (const auto& kind : kinds) names.push_back(table_of_scene().name(kind.first));
      settings_.fail("isosurface", fmt::format("found a render without '{}', so nothing would be seen; add one",
                                               fmt::join(names, "' or '")));
    }
    check_range_of_image(settings_);
    for (const auto& [layers, add] : kinds) {
      const std::vector<Settings> maps = settings_.maps(table_of_scene().name(layers));
      for (std::size_t n = 0; n < maps.size(); ++n) (this->*add)(maps[n], (scene_.*layers)[n]);
    }
    if (scene_.layers.size() > most_layers) {
      settings_.fail("isosurface", fmt::format("found {} layers in one picture, expected at most {}; make several",
                                               scene_.layers.size(), most_layers));
    }
  }

 private:
  void add_isosurface(const Settings& settings, LayerOptions& layer) {
    IsosurfaceQuery query = read_isosurface(settings, metadata_, Purpose::picture);
    const Variable& variable = metadata_.variables[query.variable];
    check_colouring(settings, layer, "one isosurface");
    if (layer.colour_by) {
      colour_by_field(settings, query, layer);
    } else if (layer.one_colour || query.values.size() == 1) {
      take_colour(settings, layer);
    } else {
      layer.colouring = Layer::Colouring::by_value;
      ColourScale& scale = scale_for(settings, variable, query.component, layer);
      scale.values.insert(scale.values.end(), query.values.begin(), query.values.end());
    }
    name(variable, query.component);
    add(layer, std::move(query), variable);
  }

  void add_threshold(const Settings& settings, LayerOptions& layer) {
    add_part(settings, layer, read_threshold(settings, metadata_, Purpose::picture));
  }
  void add_clip(const Settings& settings, LayerOptions& layer) {
    add_part(settings, layer, read_clip(settings, metadata_, Purpose::picture));
  }

  /// Adds a part of a mesh, whose boundary faces are visible.
  template <class Query>
  void add_part(const Settings& settings, LayerOptions& layer, Query query) {
    const Variable& variable = metadata_.variables[query.variables.front()];
    if (variable.mesh >= 0 && metadata_.mesh_of(variable).kind() == MeshKind::points) {
      settings.fail("variable", fmt::format("'{}' lies on mesh '{}', whose points have no faces to be seen",
                                            variable.name, metadata_.mesh_of(variable).name));
    }
    check_colouring(settings, layer, "one part of a mesh");
    if (layer.one_colour) {
      take_colour(settings, layer);
    } else {
      const Variable* shown = &variable;
      query.shown_component = read_one_component(settings, variable);
      if (layer.colour_by) {
        shown = &checked_field(settings, layer, variable);
        query.shown_component = checked_component(settings, layer, *shown);
        require_cells_or_nodes(settings, "colour_by", *shown, metadata_);
        if (shown->id != variable.id) {
          query.variables.push_back(shown->id);
          query.shown = 1;
        }
      }
      layer.colouring = Layer::Colouring::by_field;
      scale_for(settings, *shown, query.shown_component, layer).follows_data = true;
    }
    name(variable, query.shown_component);
    add(layer, std::move(query), variable);
  }

  /// Throws if a layer has both one colour and the colours of a variable.
  static void check_colouring(const Settings& settings, const LayerOptions& layer, const char* what) {
    if (!layer.one_colour || !layer.colour_by) return;
    settings.fail("colour", fmt::format("found both 'colour' and 'colour_by' for {}; remove one of them", what));
  }

  /// Gives a layer the colour that is written, or the next one.
  void take_colour(const Settings& settings, LayerOptions& layer) {
    layer.colour = layer.one_colour ? read_colour(settings, "colour", *layer.one_colour)
                                    : plain_colours[plain_++ % std::size(plain_colours)];
  }

  const Variable& checked_field(const Settings& settings, const LayerOptions& layer, const Variable& variable) {
    const Variable& field = *layer.colour_by;
    if (field.mesh != variable.mesh) {
      settings.fail(
          "colour_by",
          fmt::format("'{}' lies on mesh '{}', but '{}' on '{}'; name a variable of the same mesh", field.name,
                      metadata_.mesh_of(field).name, variable.name, metadata_.mesh_of(variable).name));
    }
    return field;
  }

  void colour_by_field(const Settings& settings, IsosurfaceQuery& query, LayerOptions& layer) {
    const Variable& field = checked_field(settings, layer, metadata_.variables[query.variable]);
    if (query.in_levels) require_in_cells(settings, "colour_by", field, metadata_.mesh_of(field));
    query.fields = {field.id};
    layer.colouring = Layer::Colouring::by_field;
    layer.attribute = checked_component(settings, layer, field);
    ColourScale& scale = scale_for(settings, field, layer.attribute, layer);
    scale.follows_data = true;
    query.period = period_of(scale);
    if (query.period > 0 && query.in_levels) {
      settings.fail("scale",
                    fmt::format("found `scale: cyclic` for a surface on mesh '{}', which is refined, and whose "
                                "nodes have means of cells; expected a mesh of one level",
                                metadata_.mesh_of(field).name));
    }
  }

  static double period_of(const ColourScale& scale) { return scale.fixed ? scale.fixed->period : 0; }

  static int checked_component(const Settings& settings, const LayerOptions& layer, const Variable& field) {
    const std::int64_t component = layer.colour_component;
    if (component < field.components) return static_cast<int>(component);
    settings.fail("colour_component", fmt::format("component {} of '{}' does not exist; it has {} (numbered from 0)",
                                                  component, field.name, field.components));
  }

  void add_slice(const Settings& settings, LayerOptions& layer) {
    SliceQuery query = read_slice(settings, metadata_, Purpose::picture);
    const Variable& variable = metadata_.variables[query.variables.front()];
    layer.colouring = Layer::Colouring::by_field;
    layer.attribute = read_one_component(settings, variable);
    ColourScale& scale = scale_for(settings, variable, layer.attribute, layer);
    scale.follows_data = true;
    query.period = period_of(scale);
    name(variable, layer.attribute);
    add(layer, std::move(query), variable);
  }

  void add_volume(const Settings& settings, LayerOptions& layer) {
    VolumeQuery query = read_volume(settings, metadata_);
    const Variable& variable = metadata_.variables[query.variable];
    layer.colouring = Layer::Colouring::by_field;
    ColourScale& scale = scale_for(settings, variable, query.component, layer);
    scale.follows_data = true;
    if (scale.scaling == ColourScaling::logarithmic) check_logarithms(settings, query);
    if (scale.scaling == ColourScaling::cyclic) {
      settings.fail("scale",
                    fmt::format("found `scale: cyclic` for the volume of '{}', whose opacities do not go round; "
                                "expected another scale",
                                variable.name));
    }
    query.range = scale.fixed;
    name(variable, query.component);
    add(layer, std::move(query), variable);
  }

  void add_particles(const Settings& settings, LayerOptions& layer) {
    ParticlesQuery query = particles_options().read(settings, metadata_);
    query.in_domain = !scene_.ends;
    const Mesh& mesh = metadata_.mesh_of(metadata_.variables[query.coordinates]);
    check_colouring(settings, layer, "the same particles");
    if (!layer.colour_by) {
      take_colour(settings, layer);
      name(mesh.name);
    } else {
      const Variable& field = *layer.colour_by;
      if (field.mesh != mesh.id) {
        settings.fail("colour_by", fmt::format("'{}' lies on mesh '{}', not on '{}'; name a variable of the particles",
                                               field.name, metadata_.mesh_of(field).name, mesh.name));
      }
      query.colour_by = field.id;
      query.component = checked_component(settings, layer, field);
      layer.colouring = Layer::Colouring::by_field;
      scale_for(settings, field, query.component, layer).follows_data = true;
      name(field, query.component);
    }
    layer.query = query;
    scene_.layers.push_back(layer);
  }

  void add_lines(const Settings& settings, LayerOptions& layer) {
    const Variable& variable = read_variable(settings, metadata_);
    check_colouring(settings, layer, "the same lines");
    const Variable& field = layer.colour_by ? checked_field(settings, layer, variable) : variable;
    const streamlines::Query query = streamlines::read_lines(settings, metadata_, {field.id}, "colour_by");
    if (layer.colour_by) {
      const int component = checked_component(settings, layer, field);
      layer.attribute = static_cast<int>(streamlines::value_of(query, metadata_, field.id, component));
      layer.colouring = Layer::Colouring::by_field;
      scale_for(settings, field, component, layer).follows_data = true;
    } else {
      take_colour(settings, layer);
    }
    name(variable.title());
    add(layer, query, variable);
  }

  void add_patches(const Settings& settings, LayerOptions& layer) {
    PatchesQuery query = patches_options().read(settings, metadata_);
    take_colour(settings, layer);
    include_mesh(metadata_.meshes[static_cast<std::size_t>(query.mesh)]);
    layer.query = std::move(query);
    scene_.layers.push_back(layer);
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

  void name(const Variable& variable, int component) { name(with_unit(variable, component_name(variable, component))); }

  /// Adds a layer to the picture, and the mesh of its variable to the domain.
  void add(LayerOptions& layer, Layer::Query query, const Variable& variable) {
    include_mesh(metadata_.mesh_of(variable));
    layer.query = std::move(query);
    scene_.layers.push_back(layer);
  }

  void include_mesh(const Mesh& mesh) {
    if (scene_.ends) return;
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
  SceneOptions& scene_;
  std::size_t plain_ = 0;
};

void take_domain(const Settings& settings, SceneOptions& scene) {
  if (!scene.ends) return;
  const std::array<double, 6>& ends = *scene.ends;
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
  SceneOptions scene = table_of_scene().read(settings, metadata);
  take_domain(settings, scene);
  SceneReader(settings, metadata, scene).read();
  scene.views = read_cameras(settings, scene.cameras, scene.pattern, scene.finds_domain() ? nullptr : &scene.domain);
  scene.width = scene.size[0];
  scene.height = scene.size[1];
  scene.background = {read_colour(settings, "background", scene.shades.front()),
                      read_colour(settings, "background", scene.shades.back())};
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
