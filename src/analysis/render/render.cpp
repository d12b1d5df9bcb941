// Analysis `render`: draws isosurfaces, coloured slices, parts of meshes and particles as an image.
//
// Each server draws the triangles and particles of its blocks into its own framebuffer and passes on the covered
// samples. Then the samples of all servers are merged by depth, each server completing a stripe of the image, and rank
// 0 adds the colour bars and the caption. If a colour map's range is not given, or meshes publish their coordinates, an
// earlier pass finds the ranges of values and positions. The image is the same bytes however the mesh and the servers
// are divided: see graphics/framebuffer.hpp and graphics/rasteriser.hpp.
#include <cmath>
#include <cstring>
#include <optional>

#include "analysis/common/extract/level_layers.hpp"
#include "analysis/common/kinds.hpp"
#include "analysis/render/absence.hpp"
#include "analysis/render/cell_edges.hpp"
#include "analysis/render/lengths.hpp"
#include "analysis/render/materials.hpp"
#include "analysis/render/running_ranges.hpp"
#include "analysis/render/scene.hpp"
#include "analysis/render/shown_ranges.hpp"
#include "graphics/annotations.hpp"
#include "graphics/compositing.hpp"
#include "graphics/drawn_rows.hpp"
#include "graphics/primitives.hpp"
#include "graphics/rasteriser.hpp"
#include "graphics/volume_caster.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {
namespace {

using namespace rendering;

constexpr Colour edge_colour{32, 32, 32};  ///< edges of cells on a slice
constexpr double narrowest_cell = 3;       ///< pixels below which a cell has no edges
using Corners = std::vector<std::array<std::int64_t, 3>>;

Corners widened_corners(const Piece& piece) {
  Corners corners;
  corners.reserve(piece.triangles.size());
  for (const auto& triangle : piece.triangles) corners.push_back(triangle);
  return corners;
}

std::int32_t leading_variable(const IsosurfaceQuery& query) { return query.variable; }
std::int32_t leading_variable(const SliceQuery& query) { return query.variables.front(); }
std::int32_t leading_variable(const PartQuery& query) { return query.variables.front(); }
std::int32_t leading_variable(const ParticlesQuery& query) { return query.coordinates; }
std::int32_t leading_variable(const VolumeQuery& query) { return query.variable; }

class Render final : public Task {
 public:
  Render(Scene scene, const Metadata& metadata)
      : scene_(std::move(scene)),
        layout_(layout_of(scene_)),
        ranges_(scene_),
        materials_(scene_, metadata),
        level_layers_(scene_.layers.size()),
        absence_(scene_),
        running_(scene_) {
    for (const Layer& layer : scene_.layers) select(layer, metadata);
    absence_.select(selection_);
    for (const std::int32_t coordinates : scene_.coordinates) selection_.variables.push_back({coordinates});
  }

  [[nodiscard]] Selection selection() const override { return selection_; }
  [[nodiscard]] int passes() const override { return ranges_.are_found() ? 2 : 1; }

  [[nodiscard]] Bytes local(const LocalInput& input) override {
    if (ranges_.are_found() && input.pass == 0) {
      LayerRims rims(scene_.layers.size());
      const Bytes found = local_ranges(input, rims);
      return has_levels() ? rims.with(found) : found;
    }
    const Ranges ranges = ranges_.from(input.feedback);
    const Domain domain = ranges_.domain(ranges);
    const Camera camera = camera_for(domain);
    Drawing& drawing = empty_drawing();
    Rasteriser rasteriser(camera, drawing);
    cast_volumes(input, ranges, domain, camera, drawing);
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const Layer::Query& query = scene_.layers[l].query;
      if (std::holds_alternative<VolumeQuery>(query)) continue;
      if (is_drawn_in_rows(scene_.layers[l], input.metadata)) {
        draw_rows(l, std::get<IsosurfaceQuery>(query), input, ranges, camera, rasteriser);
      } else if (const auto* particles = std::get_if<ParticlesQuery>(&query)) {
        draw_particles(l, *particles, take_pieces(l, input).pieces, ranges, camera, drawing.opaque);
      } else if (in_levels(scene_.layers[l])) {
        level_layers_.add(l, take_pieces(l, input));
      } else {
        draw(l, take_pieces(l, input).pieces, ranges, camera, rasteriser);
      }
    }
    const Bytes drawn = encode(drawing);
    return has_levels() ? level_layers_.partial(input, drawn) : drawn;
  }

  Bytes combine(const CombineInput& input) override {
    if (ranges_.are_found() && input.pass == 0) {
      shown_ = ranges_.joined(seen_by_all(input), input.communicator,
                              [&](std::span<ColourRange> scales) { running_.widen(scales, input); });
      return bytes_of(shown_);
    }
    const Domain domain = ranges_.domain(shown_);
    const Camera camera = camera_for(domain);
    std::vector<Bytes> drawn;
    if (has_levels()) drawn = draw_levels(camera, input);
    Drawing stripe = composite(has_levels() ? std::span<const Bytes>(drawn) : input.partials, sample_width(),
                               sample_height(), scene_.samples, input.communicator);
    absence_.look(stripe, input);
    materials_.shades(all_ranges()).apply(camera, stripe.opaque);
    if (scene_.outline) {
      Rasteriser rasteriser(camera, stripe.opaque);
      const Colour line = mix(scene_.background.bottom, ink_on(scene_.background.bottom), 0.55);
      draw_outline(domain, camera, line_width(), line, rasteriser);
    }
    const Translucency translucency{materials_.opacities(), &camera, DepthSlabs(camera, domain)};
    const std::vector<std::uint8_t> rows = resolve(stripe, scene_.height, scene_.background, translucency);
    const auto parts = input.communicator.gather(std::as_bytes(std::span(rows)), 0);
    if (input.communicator.rank() == 0) input.results.add(scene_.file, finish(parts, input.iteration));
    return {};
  }

  void discard(const Iteration&) noexcept override {
    level_layers_.drop();
    absence_.forget();
  }

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
  /// Width in samples: a pixel and a half at 1024 x 1024.
  [[nodiscard]] double line_width() const {
    return scene_.samples * std::max(1.0, 0.0014 * std::min(scene_.width, scene_.height));
  }
  /// Width of the edges of cells, in samples: about half a pixel at 1024 x 1024. It is an integer, so that all lines
  /// along an axis cover equally many samples, and cells of one size look the same wherever they lie between pixels.
  [[nodiscard]] double edge_width() const { return std::max(1.0, std::round(0.35 * line_width())); }
  /// Reuses the drawing of earlier frames, since new memory of this size costs as much time as drawing into it.
  [[nodiscard]] Drawing& empty_drawing() {
    if (drawing_) {
      drawing_->clear();
    } else {
      drawing_.emplace(sample_width(), 0, sample_height(), scene_.samples);
    }
    return *drawing_;
  }

  void select(const Layer& layer, const Metadata& metadata) {
    const Selection needed = std::visit([&](const auto& query) { return selection_of(query, metadata); }, layer.query);
    selection_.variables.insert(selection_.variables.end(), needed.variables.begin(), needed.variables.end());
  }

  /// True if an isosurface is completed in `combine`.
  [[nodiscard]] static bool in_levels(const Layer& layer) {
    const auto* surface = std::get_if<IsosurfaceQuery>(&layer.query);
    return surface != nullptr && surface->in_levels;
  }
  [[nodiscard]] bool has_levels() const { return std::any_of(scene_.layers.begin(), scene_.layers.end(), in_levels); }

  [[nodiscard]] static LevelPieces extract_layer(const Layer& layer, const LocalInput& input) {
    if (in_levels(layer)) return extract_from_levels(std::get<IsosurfaceQuery>(layer.query), input);
    const auto extracted = [&](const auto& query) {
      if constexpr (std::is_same_v<std::decay_t<decltype(query)>, VolumeQuery>) {
        return std::vector<Piece>();
      } else {
        return extract(query, input);
      }
    };
    return {std::visit(extracted, layer.query), {}};
  }

  /// Collective: adds a partial with the surfaces of trees and levels to the received ones.
  [[nodiscard]] std::vector<Bytes> draw_levels(const Camera& camera, const CombineInput& input) {
    std::vector<Bytes> drawn = level_layers_.take(input);
    const Ranges ranges = all_ranges();
    Drawing& drawing = empty_drawing();
    Rasteriser rasteriser(camera, drawing);
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      if (!in_levels(scene_.layers[l])) continue;
      const auto& surface = std::get<IsosurfaceQuery>(scene_.layers[l].query);
      draw(l, level_layers_.surface(l, surface, input), ranges, camera, rasteriser);
    }
    drawn.push_back(encode(drawing));
    return drawn;
  }

  /// Finds ranges in the first pass. Layers on which a range depends are extracted, and kept for the second pass.
  [[nodiscard]] Bytes local_ranges(const LocalInput& input, LayerRims& rims) {
    std::erase_if(kept_, [&](const Kept& kept) { return kept.iteration != input.iteration.index; });
    Ranges ranges = ranges_.nothing();
    for (const std::int32_t coordinates : scene_.coordinates) {
      for (const BlockView& view : input.of(coordinates)) ranges_.add_places(view, ranges);
    }
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const Layer& layer = scene_.layers[l];
      const auto* particles = std::get_if<ParticlesQuery>(&layer.query);
      const bool places = particles != nullptr && particles->in_domain;
      if (!ranges_.is_open(layer) && !places) continue;
      if (const auto* volume = std::get_if<VolumeQuery>(&layer.query)) {
        ranges_.add_values(layer, *volume, input, ranges);
        continue;
      }
      LevelPieces found = extract_layer(layer, input);
      for (const Piece& piece : found.pieces) {
        if (places) ranges_.add_balls(*particles, piece, ranges);
        if (ranges_.is_open(layer)) ranges_.add_values(layer, piece, ranges);
      }
      rims.add(l, found.rims);
      kept_.push_back({l, input.iteration.index, blocks_of(layer, input), std::move(found)});
    }
    return bytes_of(ranges);
  }

  /// Collective: ranges found by the servers whose partials came here, and by surfaces between blocks.
  [[nodiscard]] std::vector<Ranges> seen_by_all(const CombineInput& input) const {
    LayerRims rims(scene_.layers.size());
    const std::vector<Bytes> partials =
        has_levels() ? rims.split(input.partials) : std::vector<Bytes>(input.partials.begin(), input.partials.end());
    std::vector<Ranges> seen{ranges_.nothing()};
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const Layer& layer = scene_.layers[l];
      if (!in_levels(layer) || !ranges_.is_open(layer)) continue;
      const auto& surface = std::get<IsosurfaceQuery>(layer.query);
      for (const Piece& piece : pieces_between(surface, input.metadata, rims.of(l), input.communicator)) {
        ranges_.add_values(layer, piece, seen.front());
      }
    }
    for (const Bytes& partial : partials) seen.push_back(ranges_.seen_in(partial));
    return seen;
  }
  /// Used in `combine`.
  [[nodiscard]] Ranges all_ranges() const { return ranges_.are_found() ? shown_ : ranges_.from({}); }

  /// The camera includes whole balls, which extend beyond their centres.
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

  /// Pieces of a layer that the first pass kept for the same blocks; otherwise extracts them again.
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

  void cast_volumes(const LocalInput& input, const Ranges& ranges, const Domain& domain, const Camera& camera,
                    Drawing& drawing) const {
    VolumeCaster caster(camera, scene_.width, scene_.height, scene_.samples, DepthSlabs(camera, domain));
    std::vector<std::unique_ptr<TransferFunction>> functions;
    for (const Layer& layer : scene_.layers) {
      const auto* volume = std::get_if<VolumeQuery>(&layer.query);
      if (volume == nullptr) continue;
      const auto scale = static_cast<std::size_t>(layer.scale);
      functions.push_back(
          std::make_unique<TransferFunction>(function_of(*volume, materials_.map(scale), ranges[scale], domain)));
      for_each_box(*volume, input, *functions.back(),
                   [&](VolumeBox box) { caster.add(std::move(box), *functions.back()); });
    }
    if (!functions.empty()) caster.cast(drawing.slabs);
  }

  void draw_rows(std::size_t l, const IsosurfaceQuery& surface, const LocalInput& input, const Ranges& ranges,
                 const Camera& camera, Rasteriser& rasteriser) const {
    const auto distance = [&](const Vec3& place) { return camera.see(place).ahead; };
    extract_rows(surface, input, distance, [&](std::size_t value) {
      rasteriser.begin(materials_.of(l, value, ranges), true, false);
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
      // Pieces of boxes number their points with fewer bits than the rasteriser expects.
      const Corners widened = piece.triangles.is_narrow() ? widened_corners(piece) : Corners();
      Triangles triangles{
          piece.points.wide(), widened.empty() ? piece.triangles.wide() : std::span(widened), piece.normals.wide(), {}};
      Material material = materials_.of(l, surface ? static_cast<std::size_t>(piece.layer) : 0, ranges);
      if (material.map != nullptr) triangles.values = piece.data[layer.attribute];
      rasteriser.draw(triangles, material);
      if (edges) {
        material.map = nullptr;
        material.colour = edge_colour;
        const auto lines = distinct_edges(piece, camera, narrowest_cell * scene_.samples);
        draw_lines({piece.points.wide(), lines, {}}, camera, edge_width(), material, rasteriser);
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
    const Material material = materials_.of(l, 0, ranges);
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
    const Ranges ranges = all_ranges();
    TextBoxes boxes;
    for (int bar = 0; bar < layout_.bars; ++bar) {
      draw_colour_bar(image, layout_, bar, materials_.map(static_cast<std::size_t>(bar)), ranges[bar],
                      scene_.scales[bar].title, &boxes);
    }
    if (!scene_.caption.empty()) {
      draw_caption(image, layout_, expand_caption(scene_.caption, scene_.label, iteration), &boxes);
    }
    draw_lengths(image, layout_, scene_, ranges_.domain(ranges), boxes);
    return image;
  }

  Scene scene_;
  Layout layout_;
  ShownRanges ranges_;
  Materials materials_;
  Selection selection_;
  std::optional<Drawing> drawing_;
  LevelLayers level_layers_;
  Absence absence_;
  RunningRanges running_;
  std::vector<Kept> kept_;  ///< kept from the first pass to the second
  Ranges shown_;            ///< kept from the combine of the first pass to that of the second
};

}  // namespace

AnalysisKind render_kind() {
  return {"render",
          "Draws isosurfaces, coloured slices, the boundary faces of parts of meshes, and particles, and writes the "
          "image, one frame per iteration. The same data give the same bytes in every placement.",
          scene_options(), [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
            return std::make_unique<Render>(read_scene(settings, metadata), metadata);
          }};
}

}  // namespace sidestream
