// The analysis `render`: isosurfaces, coloured slices, parts of meshes and particles as a picture.
//
// Each server draws the triangles and particles of its blocks into a framebuffer of its own and passes on the samples
// it covered. Then the samples of all servers are merged by depth, each server completing a stripe of the picture, and
// rank 0 adds the colour bars and the caption. If a colour map's range is not given, or meshes say where they are, a
// pass before that finds the ranges, also of the places. The picture is the same bytes however the mesh and the servers
// are divided: see rendering/framebuffer.hpp and rendering/rasteriser.hpp.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "analysis/kinds.hpp"
#include "analysis/leaves/level_layers.hpp"
#include "analysis/rendering/annotations.hpp"
#include "analysis/rendering/balls.hpp"
#include "analysis/rendering/compositing.hpp"
#include "analysis/rendering/drawn_rows.hpp"
#include "analysis/rendering/facets.hpp"
#include "analysis/rendering/outline.hpp"
#include "analysis/rendering/scene.hpp"
#include "base/fail.hpp"
#include "base/records.hpp"

namespace sidestream {
namespace {

using namespace rendering;

constexpr Colour edge_colour{32, 32, 32};  ///< of the edges of cells on a slice
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Smallest and largest value of each scale; low > high where there is none.
using Ranges = std::vector<ColourRange>;

Ranges to_ranges(BytesView bytes, std::size_t count) {
  if (bytes.size() != count * sizeof(ColourRange)) {
    fail(Code::internal, "render got {} bytes of ranges, expected {}", bytes.size(), count * sizeof(ColourRange));
  }
  return records_of<ColourRange>(bytes);
}

void include(ColourRange& range, double value) {
  if (!std::isfinite(value)) return;
  range.low = std::min(range.low, value);
  range.high = std::max(range.high, value);
}

/// The least and greatest coordinates of the points that a block owns on each axis.
void include_places(const BlockView& view, std::span<ColourRange> axes) {
  std::vector<double> values;
  for (const Box& box : view.owned) {
    values.resize(static_cast<std::size_t>(box.count()));
    for (std::size_t a = 0; a < 3 && !values.empty(); ++a) {
      if (static_cast<std::int32_t>(a) >= view.array.components) {
        include(axes[a], 0);
        continue;
      }
      copy_to_double(view.array, static_cast<int>(a), box, values.data(), box);
      for (const double value : values) include(axes[a], value);
    }
  }
}

/// The balls of particles; those of a size in pixels by where their middle is.
void include_balls(const ParticlesQuery& query, const Piece& piece, std::span<ColourRange> axes) {
  for (const auto& place : piece.points) {
    for (std::size_t a = 0; a < 3; ++a) {
      const double radius = static_cast<int>(a) < query.dimensions ? query.radius : 0;
      include(axes[a], place[a] - radius);
      include(axes[a], place[a] + radius);
    }
  }
}

std::int32_t leading_variable(const IsosurfaceQuery& query) { return query.variable; }
std::int32_t leading_variable(const SliceQuery& query) { return query.variables.front(); }
std::int32_t leading_variable(const PartQuery& query) { return query.variables.front(); }
std::int32_t leading_variable(const ParticlesQuery& query) { return query.coordinates; }

class Render final : public Task {
 public:
  Render(Scene scene, const Metadata& metadata)
      : scene_(std::move(scene)),
        layout_(scene_.width, scene_.height, scene_.colour_bar ? static_cast<int>(scene_.scales.size()) : 0,
                !scene_.caption.empty()),
        level_layers_(scene_.layers.size()) {
    for (const ColourScale& scale : scene_.scales) maps_.emplace_back(scale.colours);
    for (const Layer& layer : scene_.layers) select(layer, metadata);
    number_materials(metadata);
    for (const std::int32_t coordinates : scene_.coordinates) selection_.variables.push_back({coordinates});
  }

  [[nodiscard]] Selection selection() const override { return selection_; }
  [[nodiscard]] int passes() const override { return finds_ranges() ? 2 : 1; }

  [[nodiscard]] Bytes local(const LocalInput& input) override {
    if (finds_ranges() && input.pass == 0) {
      LayerRims rims(scene_.layers.size());
      const Bytes found = local_ranges(input, rims);
      return has_levels() ? rims.with(found) : found;
    }
    const Ranges ranges = ranges_for(input.feedback);
    const Camera camera = camera_for(domain_in(ranges));
    Framebuffer& framebuffer = empty_framebuffer();
    Rasteriser rasteriser(camera, framebuffer);
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const Layer::Query& query = scene_.layers[l].query;
      const auto* surface = std::get_if<IsosurfaceQuery>(&query);
      if (surface != nullptr && come_in_rows(*surface, input.metadata)) {
        draw_rows(l, *surface, input, ranges, camera, rasteriser);
      } else if (const auto* particles = std::get_if<ParticlesQuery>(&query)) {
        draw_particles(l, *particles, take_pieces(l, input).pieces, ranges, camera, framebuffer);
      } else if (in_levels(scene_.layers[l])) {
        level_layers_.add(l, take_pieces(l, input));
      } else {
        draw(l, take_pieces(l, input).pieces, ranges, camera, rasteriser);
      }
    }
    const Bytes drawn = encode_runs(framebuffer);
    return has_levels() ? level_layers_.partial(input, drawn) : drawn;
  }

  Bytes combine(const CombineInput& input) override {
    if (finds_ranges() && input.pass == 0) {
      shown_ = combine_ranges(input);
      return bytes_of(shown_);
    }
    const Domain domain = domain_in(shown_);
    const Camera camera = camera_for(domain);
    std::vector<Bytes> drawn;
    if (has_levels()) drawn = draw_levels(camera, input);
    Framebuffer stripe = composite(has_levels() ? std::span<const Bytes>(drawn) : input.partials, sample_width(),
                                   sample_height(), scene_.samples, input.communicator);
    shades(finds_ranges() ? shown_ : ranges_for({})).apply(camera, stripe);
    if (scene_.outline) {
      Rasteriser rasteriser(camera, stripe);
      const Colour line = mix(scene_.background.bottom, ink_on(scene_.background.bottom), 0.55);
      draw_outline(domain, camera, line_width(), line, rasteriser);
    }
    const std::vector<std::uint8_t> rows = resolve(stripe, scene_.samples, scene_.height, scene_.background);
    const auto parts = input.communicator.gather(std::as_bytes(std::span(rows)), 0);
    if (input.communicator.rank() == 0) input.results.add(scene_.file, finish(parts, input.iteration));
    return {};
  }

  void discard(const Iteration&) noexcept override { level_layers_.drop(); }

 private:
  struct Kept {
    std::size_t layer;
    std::int64_t iteration;
    std::vector<std::int64_t> blocks;
    LevelPieces found;
  };

  [[nodiscard]] Viewport in_samples(const Viewport& v) const {
    const double s = scene_.samples;
    return {v.left * s, v.top * s, v.width * s, v.height * s};
  }
  [[nodiscard]] std::int64_t sample_width() const { return std::int64_t{scene_.width} * scene_.samples; }
  [[nodiscard]] std::int64_t sample_height() const { return std::int64_t{scene_.height} * scene_.samples; }
  /// In samples: a pixel and a half at 1024 x 1024.
  [[nodiscard]] double line_width() const {
    return scene_.samples * std::max(1.0, 0.0014 * std::min(scene_.width, scene_.height));
  }
  /// Of the edges of cells, in samples: about half a pixel at 1024 x 1024. A whole number, so that all lines along an
  /// axis cover equally many: cells of one size look alike, wherever they lie between pixels.
  [[nodiscard]] double edge_width() const { return std::max(1.0, std::round(0.35 * line_width())); }
  /// In a pass of its own: of open scales, and along x, y and z where the domain is not known.
  [[nodiscard]] bool finds_ranges() const {
    const auto open = [](const auto& s) { return s.is_open(); };
    return finds_domain() || std::any_of(scene_.scales.begin(), scene_.scales.end(), open);
  }
  [[nodiscard]] bool finds_domain() const { return scene_.finds_domain(); }
  [[nodiscard]] std::size_t range_count() const { return scene_.scales.size() + (finds_domain() ? 3 : 0); }
  [[nodiscard]] bool is_open(const Layer& layer) const {
    return layer.colouring == Layer::Colouring::by_field && scene_.scales[layer.scale].is_open();
  }

  /// The one of the frames before, since new memory of this size costs as much time as drawing into it.
  [[nodiscard]] Framebuffer& empty_framebuffer() {
    if (framebuffer_) {
      framebuffer_->clear();
    } else {
      framebuffer_.emplace(sample_width(), 0, sample_height());
    }
    return *framebuffer_;
  }

  void select(const Layer& layer, const Metadata& metadata) {
    const Selection needed = std::visit([&](const auto& query) { return selection_of(query, metadata); }, layer.query);
    selection_.variables.insert(selection_.variables.end(), needed.variables.begin(), needed.variables.end());
  }

  /// Whether an isosurface is made whole in `combine`.
  [[nodiscard]] static bool in_levels(const Layer& layer) {
    const auto* surface = std::get_if<IsosurfaceQuery>(&layer.query);
    return surface != nullptr && surface->in_levels;
  }
  [[nodiscard]] bool has_levels() const { return std::any_of(scene_.layers.begin(), scene_.layers.end(), in_levels); }

  [[nodiscard]] static LevelPieces extract_layer(const Layer& layer, const LocalInput& input) {
    if (in_levels(layer)) return extract_from_levels(std::get<IsosurfaceQuery>(layer.query), input);
    return {std::visit([&](const auto& query) { return extract(query, input); }, layer.query), {}};
  }

  /// Collective: adds a partial with the surfaces of trees and levels to those that came.
  [[nodiscard]] std::vector<Bytes> draw_levels(const Camera& camera, const CombineInput& input) {
    std::vector<Bytes> drawn = level_layers_.take(input);
    const Ranges ranges = finds_ranges() ? shown_ : ranges_for({});
    Framebuffer& framebuffer = empty_framebuffer();
    Rasteriser rasteriser(camera, framebuffer);
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      if (!in_levels(scene_.layers[l])) continue;
      const auto& surface = std::get<IsosurfaceQuery>(scene_.layers[l].query);
      draw(l, level_layers_.surface(l, surface, input), ranges, camera, rasteriser);
    }
    drawn.push_back(encode_runs(framebuffer));
    return drawn;
  }

  /// The layers that decide about a range are extracted in the first pass and kept for the second.
  [[nodiscard]] Bytes local_ranges(const LocalInput& input, LayerRims& rims) {
    std::erase_if(kept_, [&](const Kept& kept) { return kept.iteration != input.iteration.index; });
    Ranges ranges(range_count(), {infinity, -infinity});
    for (const std::int32_t coordinates : scene_.coordinates) {
      for (const BlockView& view : input.of(coordinates)) {
        include_places(view, std::span(ranges).subspan(scene_.scales.size()));
      }
    }
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const Layer& layer = scene_.layers[l];
      const auto* particles = std::get_if<ParticlesQuery>(&layer.query);
      const bool places = particles != nullptr && particles->in_domain;
      if (!is_open(layer) && !places) continue;
      LevelPieces found = extract_layer(layer, input);
      for (const Piece& piece : found.pieces) {
        if (places) include_balls(*particles, piece, std::span(ranges).subspan(scene_.scales.size()));
        if (is_open(layer)) include_shown(layer, piece, ranges);
      }
      rims.add(l, found.rims);
      kept_.push_back({l, input.iteration.index, blocks_of(layer, input), std::move(found)});
    }
    return bytes_of(ranges);
  }

  static void include_shown(const Layer& layer, const Piece& piece, Ranges& ranges) {
    for (const double value : piece.data[layer.attribute]) include(ranges[layer.scale], value);
  }

  /// Collective: what surfaces between blocks show; `partials` gets the ranges that came.
  [[nodiscard]] Ranges ranges_between_blocks(const CombineInput& input, std::vector<Bytes>& partials) const {
    Ranges ranges(range_count(), {infinity, -infinity});
    LayerRims rims(scene_.layers.size());
    partials = rims.split(input.partials);
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const Layer& layer = scene_.layers[l];
      if (!in_levels(layer) || !is_open(layer)) continue;
      const auto& surface = std::get<IsosurfaceQuery>(layer.query);
      for (const Piece& piece : pieces_between(surface, input.metadata, rims.of(l), input.communicator)) {
        include_shown(layer, piece, ranges);
      }
    }
    return ranges;
  }

  [[nodiscard]] Ranges combine_ranges(const CombineInput& input) const {
    const std::size_t count = range_count();
    std::vector<double> low(count, infinity), high(count, -infinity);
    const auto take = [&](const Ranges& ranges) {
      for (std::size_t s = 0; s < count; ++s) {
        low[s] = std::min(low[s], ranges[s].low);
        high[s] = std::max(high[s], ranges[s].high);
      }
    };
    std::vector<Bytes> partials(input.partials.begin(), input.partials.end());
    if (has_levels()) take(ranges_between_blocks(input, partials));
    for (const Bytes& partial : partials) take(to_ranges(partial, count));
    input.communicator.minimum(low);
    input.communicator.maximum(high);
    Ranges all(count);
    for (std::size_t s = 0; s < count; ++s) {
      all[s] = {low[s], high[s]};
      if (s < scene_.scales.size()) all[s] = final_range(scene_.scales[s], all[s]);
    }
    return all;
  }

  /// What the ranges that were found say of where everything is.
  [[nodiscard]] Domain domain_in(const Ranges& ranges) const {
    Domain domain = scene_.domain;
    if (!finds_domain()) return domain;
    const std::size_t first = scene_.scales.size();
    if (!(ranges[first].low <= ranges[first].high)) return domain;  // there is nothing
    for (std::size_t a = 0; a < 3; ++a) {
      const ColourRange& found = ranges[first + a];
      domain.low[a] = scene_.domain_known ? std::min(domain.low[a], found.low) : found.low;
      domain.high[a] = scene_.domain_known ? std::max(domain.high[a], found.high) : found.high;
    }
    if (domain.diagonal() > 0) return domain;
    for (std::size_t a = 0; a < 3; ++a) {  // a single place: something round it is seen
      domain.low[a] -= 0.5;
      domain.high[a] += 0.5;
    }
    return domain;
  }
  /// Balls reach beyond their places.
  [[nodiscard]] Camera camera_for(const Domain& domain) const {
    const Viewport viewport = in_samples(layout_.viewport());
    const Camera camera(scene_.camera, domain, viewport);
    double reach = 0;
    for (const Layer& layer : scene_.layers) {
      const auto* particles = std::get_if<ParticlesQuery>(&layer.query);
      if (particles == nullptr) continue;
      double farthest = 0;
      for (int c = 0; c < 8; ++c) farthest = std::max(farthest, camera.see(domain.corner(c)).ahead);
      const double sized = particles->pixels * scene_.samples * camera.sample_size(farthest);
      reach = std::max({reach, particles->radius, sized});
    }
    return reach > 0 ? Camera(scene_.camera, domain, viewport, reach) : camera;
  }

  [[nodiscard]] static ColourRange final_range(const ColourScale& scale, ColourRange found) {
    if (scale.fixed) return *scale.fixed;
    for (const double value : scale.values) include(found, value);
    return usable_range(found.low, found.high);
  }

  [[nodiscard]] Ranges ranges_for(BytesView feedback) {
    if (finds_ranges()) return to_ranges(feedback, range_count());
    Ranges ranges;
    for (const ColourScale& scale : scene_.scales) ranges.push_back(final_range(scale, {infinity, -infinity}));
    return ranges;
  }

  /// What the first pass kept of a layer of these blocks, or if it kept nothing, the same anew.
  [[nodiscard]] LevelPieces take_pieces(std::size_t l, const LocalInput& input) {
    const std::vector<std::int64_t> blocks = blocks_of(scene_.layers[l], input);
    const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
      return kept.layer == l && kept.iteration == input.iteration.index && kept.blocks == blocks;
    });
    if (found == kept_.end()) return extract_layer(scene_.layers[l], input);
    LevelPieces pieces = std::move(found->found);
    kept_.erase(found);
    return pieces;
  }

  /// The blocks that a layer's pieces come from.
  [[nodiscard]] static std::vector<std::int64_t> blocks_of(const Layer& layer, const LocalInput& input) {
    const std::int32_t variable = std::visit([](const auto& query) { return leading_variable(query); }, layer.query);
    std::vector<std::int64_t> ids;
    for (const BlockView& view : input.of(variable)) ids.push_back(view.block.id);
    return ids;
  }

  /// What the samples of a layer are called: its number, or if it is lit later that of its first isosurface.
  struct Numbers {
    std::uint8_t first = 0;
    bool later = false;
  };
  /// 0 is the outline. If there are not enough for every isosurface, all are lit as they are drawn.
  void number_materials(const Metadata& metadata) {
    std::size_t count = 0;
    for (const Layer& layer : scene_.layers) {
      const auto* surface = std::get_if<IsosurfaceQuery>(&layer.query);
      const bool later = surface != nullptr && come_in_rows(*surface, metadata);
      numbers_.push_back({static_cast<std::uint8_t>(count + 1), later});
      count += later ? surface->values.size() : 1;
    }
    for (std::size_t l = 0; l < numbers_.size() && count > 255; ++l)
      numbers_[l] = {static_cast<std::uint8_t>(l + 1), false};
  }

  /// Of an isosurface, or with value 0 of a slice.
  [[nodiscard]] Material material_of(std::size_t l, std::size_t value, const Ranges& ranges) const {
    const Layer& layer = scene_.layers[l];
    const auto* surface = std::get_if<IsosurfaceQuery>(&layer.query);
    Material material;
    material.later = numbers_[l].later;
    material.layer = static_cast<std::uint8_t>(numbers_[l].first + (material.later ? value : 0));
    material.colour = layer.colour;
    if (layer.colouring == Layer::Colouring::by_field) {
      material.map = &maps_[layer.scale];
      material.range = ranges[layer.scale];
    } else if (layer.colouring == Layer::Colouring::by_value) {
      material.colour = maps_[layer.scale].at(ranges[layer.scale].fraction(surface->values[value]));
    }
    return material;
  }

  [[nodiscard]] Shades shades(const Ranges& ranges) const {
    Shades shades;
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const auto* surface = std::get_if<IsosurfaceQuery>(&scene_.layers[l].query);
      for (std::size_t v = 0; surface != nullptr && v < surface->values.size(); ++v) {
        const Material material = material_of(l, v, ranges);
        if (material.later) shades.set(material.layer, material.colour);
      }
    }
    return shades;
  }

  void draw_rows(std::size_t l, const IsosurfaceQuery& surface, const LocalInput& input, const Ranges& ranges,
                 const Camera& camera, Rasteriser& rasteriser) const {
    const auto distance = [&](const Vec3& place) { return camera.see(place).ahead; };
    extract_rows(surface, input, distance, [&](std::size_t value) {
      rasteriser.begin(material_of(l, value, ranges), true, false);
      return std::make_unique<DrawnRows>(rasteriser);
    });
  }

  void draw(std::size_t l, const std::vector<Piece>& pieces, const Ranges& ranges, const Camera& camera,
            Rasteriser& rasteriser) const {
    const Layer& layer = scene_.layers[l];
    const bool surface = std::holds_alternative<IsosurfaceQuery>(layer.query);
    const auto* slice = std::get_if<SliceQuery>(&layer.query);
    const bool edges = slice != nullptr && slice->edges;
    for (const Piece& extracted : pieces) {
      const bool unlit = surface && extracted.normals.empty() && !extracted.triangles.empty();
      const Piece faceted = unlit ? facets(extracted) : Piece{};
      const Piece& piece = unlit ? faceted : extracted;
      Triangles triangles{piece.points.wide(), piece.triangles.wide(), piece.normals.wide(), {}};
      Material material = material_of(l, surface ? static_cast<std::size_t>(piece.layer) : 0, ranges);
      if (material.map != nullptr) triangles.values = piece.data[layer.attribute];
      rasteriser.draw(triangles, material);
      if (edges) {
        material.map = nullptr;
        material.colour = edge_colour;
        draw_lines({piece.points.wide(), piece.lines, {}}, camera, edge_width(), material, rasteriser);
        continue;
      }
      draw_lines({piece.points.wide(), piece.lines, triangles.values}, camera, 1.5 * line_width(), material,
                 rasteriser);
    }
  }

  void draw_particles(std::size_t l, const ParticlesQuery& query, const std::vector<Piece>& pieces,
                      const Ranges& ranges, const Camera& camera, Framebuffer& framebuffer) const {
    const Layer& layer = scene_.layers[l];
    const bool by_field = layer.colouring == Layer::Colouring::by_field;
    const Material material = material_of(l, 0, ranges);
    for (const Piece& piece : pieces) {
      const auto values = by_field ? std::span<const double>(piece.data[0]) : std::span<const double>();
      draw_balls({piece.points.wide(), values, query.radius, query.pixels * scene_.samples, query.disc}, material,
                 camera, framebuffer);
    }
  }

  [[nodiscard]] Image finish(const std::vector<Bytes>& parts, const Iteration& iteration) {
    Image image{scene_.width, scene_.height, {}};
    for (const Bytes& part : parts) {
      const auto* first = reinterpret_cast<const std::uint8_t*>(part.data());
      image.rgba.insert(image.rgba.end(), first, first + part.size());
    }
    const Ranges ranges = finds_ranges() ? shown_ : ranges_for({});
    for (int bar = 0; bar < layout_.bars; ++bar) {
      draw_colour_bar(image, layout_, bar, maps_[bar], ranges[bar], scene_.scales[bar].title);
    }
    if (!scene_.caption.empty()) {
      draw_caption(image, layout_, expand_caption(scene_.caption, scene_.label, iteration));
    }
    return image;
  }

  Scene scene_;
  Layout layout_;
  Selection selection_;
  std::vector<ColourMap> maps_;  ///< of each scale
  std::optional<Framebuffer> framebuffer_;
  LevelLayers level_layers_;
  std::vector<Kept> kept_;        ///< from the first pass to the second
  std::vector<Numbers> numbers_;  ///< of each layer
  Ranges shown_;                  ///< from the combine of the first pass to that of the second
};

}  // namespace

AnalysisKind render_kind() {
  return {
      "render",
      "Draws isosurfaces, coloured slices, the outer faces of parts of meshes and particles, and writes the picture, "
      "one frame an iteration. The same data give the same bytes in every placement.",
      scene_options(), [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
        return std::make_unique<Render>(read_scene(settings, metadata), metadata);
      }};
}

}  // namespace sidestream
