// Analysis `render`: draws isosurfaces, coloured slices, parts of meshes and particles as an image.
//
// Each server draws the triangles and particles of its blocks into its own framebuffer and passes on the covered
// samples. Then the samples of all servers are merged by depth, each server completing a stripe of the image, and rank
// 0 adds the colour bars and the caption. Several cameras are drawn at the same time, as far as memory allows, and
// surfaces that are drawn while they are traced are traced once for these. Other layers are extracted once for all
// cameras. If a colour map's range is not given, or meshes publish their coordinates, an earlier pass finds the ranges
// of values and positions. The image is the same bytes however the mesh and the servers are divided: see
// graphics/framebuffer.hpp and graphics/rasteriser.hpp.
#include <cmath>
#include <deque>
#include <memory>
#include <optional>

#include "sidestream/kit/base/records.hpp"
#include "visualisation/extract/level_surfaces.hpp"
#include "visualisation/graphics/compositing.hpp"
#include "visualisation/graphics/drawn_rows.hpp"
#include "visualisation/graphics/primitives.hpp"
#include "visualisation/graphics/rasteriser.hpp"
#include "visualisation/graphics/volume_caster.hpp"
#include "visualisation/kinds.hpp"
#include "visualisation/render/absence.hpp"
#include "visualisation/render/layer_pieces.hpp"
#include "visualisation/render/materials.hpp"
#include "visualisation/render/scene.hpp"
#include "visualisation/render/shown_ranges.hpp"
#include "visualisation/render/view_pictures.hpp"

namespace sidestream {
namespace {

using namespace rendering;

constexpr Colour edge_colour{32, 32, 32};                      ///< edges of cells on a slice
constexpr double narrowest_cell = 3;                           ///< pixels below which a cell or a patch has no edges
constexpr std::size_t canvas_memory = std::size_t{256} << 20;  ///< bytes of samples of views that are drawn together
using Corners = std::vector<std::array<std::int64_t, 3>>;

Corners widened_corners(const Piece& piece) {
  Corners corners;
  corners.reserve(piece.triangles.size());
  for (const auto& triangle : piece.triangles) corners.push_back(triangle);
  return corners;
}

class Render final : public Task {
 public:
  Render(Scene scene, const Metadata& metadata)
      : scene_(std::move(scene)),
        ranges_(scene_),
        materials_(scene_, metadata),
        pictures_(scene_, materials_),
        level_layers_(scene_.layers.size()),
        absence_(scene_),
        running_(scene_),
        pieces_(scene_),
        lines_(scene_.layers.size()) {
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
    Found found(scene_.layers.size());
    std::vector<Bytes> drawn;
    while (drawn.size() < scene_.views.size()) {
      Canvases canvases = canvases_from(drawn.size(), domain, input.iteration);
      const bool last = drawn.size() + canvases.size() == scene_.views.size();
      draw_layers(input, ranges, domain, canvases, found, last);
      for (const Canvas& canvas : canvases) drawn.push_back(encode(canvas.drawing));
    }
    const Bytes all = join_drawings(std::move(drawn));
    if (!has_levels()) return all;
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      if (in_levels(scene_.layers[l])) level_layers_.add(l, pieces_.take(l, input));
    }
    return level_layers_.partial(input, all);
  }

  Bytes combine(const CombineInput& input) override {
    if (ranges_.are_found() && input.pass == 0) {
      shown_ = ranges_.joined(seen_by_all(input), input.communicator,
                              [&](std::span<ColourRange> scales) { running_.widen(scales, input); });
      return bytes_of(shown_);
    }
    const Domain domain = ranges_.domain(shown_);
    const std::size_t views = scene_.views.size();
    std::vector<std::vector<Bytes>> drawn;  // by view, unless there is only what came
    const bool completes = std::ranges::any_of(scene_.layers, is_completed);
    if (has_levels()) {
      drawn = split_drawings(level_layers_.take(input), views);
    } else if (completes || views > 1) {
      drawn = split_drawings(input.partials, views);
    }
    if (completes) draw_completed(domain, input, drawn);
    for (std::size_t v = 0; v < views; ++v) {
      composite_view(v, drawn.empty() ? input.partials : std::span<const Bytes>(drawn[v]), domain, input);
    }
    absence_.report(input);
    if (input.communicator.rank() == 0) pictures_.end(input);
    return {};
  }

  void discard(const Iteration&) noexcept override {
    level_layers_.drop();
    absence_.forget();
    for (auto& lines : lines_) lines.reset();
  }

 private:
  using Found = std::vector<std::optional<LevelPieces>>;  ///< by layer, extracted for the first view

  /// A view that is being drawn.
  struct Canvas {
    Canvas(const Camera& seen, Drawing& onto) : camera(seen), drawing(onto), rasteriser(camera, drawing) {}
    Canvas(const Canvas&) = delete;
    Canvas& operator=(const Canvas&) = delete;
    Camera camera;
    Drawing& drawing;
    Rasteriser rasteriser;
  };
  using Canvases = std::deque<Canvas>;

  /// Empty canvases for some views from `first` on, as many as their memory allows. Reuses the drawings of earlier
  /// ones, since new memory of this size costs as much time as drawing into it.
  [[nodiscard]] Canvases canvases_from(std::size_t first, const Domain& domain, const Iteration& iteration) {
    const std::size_t bytes = sizeof(Sample) * static_cast<std::size_t>(sample_width() * sample_height());
    const std::size_t count = std::min(scene_.views.size() - first, std::max<std::size_t>(1, canvas_memory / bytes));
    Canvases canvases;
    for (std::size_t n = 0; n < count; ++n) {
      if (n < drawings_.size()) {
        drawings_[n].clear();
      } else {
        drawings_.emplace_back(sample_width(), 0, sample_height(), scene_.samples);
      }
      canvases.emplace_back(camera_for(first + n, domain, iteration), drawings_[n]);
    }
    return canvases;
  }

  /// Draws all layers but those that `combine` completes. Pieces stay in `found` unless these views are the `last`.
  void draw_layers(const LocalInput& input, const Ranges& ranges, const Domain& domain, Canvases& canvases,
                   Found& found, bool last) {
    for (Canvas& canvas : canvases) cast_volumes(input, ranges, domain, canvas.camera, canvas.drawing);
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const Layer::Query& query = scene_.layers[l].query;
      if (std::holds_alternative<VolumeQuery>(query) || is_completed(scene_.layers[l])) continue;
      if (is_drawn_in_rows(scene_.layers[l], input.metadata)) {
        draw_rows(l, std::get<IsosurfaceQuery>(query), input, ranges, canvases);
        continue;
      }
      if (!found[l]) found[l] = pieces_.take(l, input);
      for (Canvas& canvas : canvases) {
        if (const auto* particles = std::get_if<ParticlesQuery>(&query)) {
          draw_particles(l, *particles, found[l]->pieces, ranges, canvas.camera, canvas.drawing.opaque);
        } else {
          draw(l, found[l]->pieces, ranges, canvas.camera, canvas.rasteriser);
        }
      }
      if (last) found[l].reset();
    }
  }

  /// Collective: merges the drawings of a view and hands over its picture.
  void composite_view(std::size_t view, std::span<const Bytes> drawn, const Domain& domain, const CombineInput& input) {
    const Camera camera = camera_for(view, domain, input.iteration);
    const Ranges ranges = all_ranges();
    const Stripes stripes(sample_height(), scene_.samples, input.communicator.size());
    Drawing stripe = composite(drawn, sample_width(), scene_.samples, stripes, input.communicator);
    absence_.note_stripe(view, stripe);
    materials_.shades(ranges).apply(camera, stripe.opaque);
    if (scene_.outline) {
      Rasteriser rasteriser(camera, stripe.opaque);
      const Colour line = mix(scene_.background.bottom, ink_on(scene_.background.bottom), 0.55);
      draw_outline(domain, camera, line_width(), line, rasteriser);
    }
    const Translucency translucency{materials_.opacities(), &camera, DepthSlabs(camera, domain)};
    const std::vector<std::uint8_t> rows = resolve(stripe, scene_.height, scene_.background, translucency);
    std::vector<Bytes> parts = input.communicator.gather(std::as_bytes(std::span(rows)), 0);
    if (input.communicator.rank() != 0) return;
    std::vector<Bytes> in_order;
    for (const int member : stripes.members_by_row()) {
      in_order.push_back(std::move(parts[static_cast<std::size_t>(member)]));
    }
    pictures_.add(view, in_order, input, ranges, domain);
  }

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
  /// Width of the outlines of patches, in samples: an integer, likewise.
  [[nodiscard]] double patch_width() const { return std::max(1.0, std::round(line_width())); }

  void select(const Layer& layer, const Metadata& metadata) {
    const Selection needed = std::visit([&](const auto& query) { return selection_of(query, metadata); }, layer.query);
    selection_.variables.insert(selection_.variables.end(), needed.variables.begin(), needed.variables.end());
    selection_.catalogue |= needed.catalogue;
  }

  [[nodiscard]] bool has_levels() const { return std::any_of(scene_.layers.begin(), scene_.layers.end(), in_levels); }

  /// Collective: draws the surfaces of trees and levels, and lines, for each view, whose received drawings they
  /// complete.
  void draw_completed(const Domain& domain, const CombineInput& input, std::vector<std::vector<Bytes>>& drawn) {
    const Ranges ranges = all_ranges();
    std::vector<std::vector<Piece>> surfaces(scene_.layers.size());
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const Layer::Query& query = scene_.layers[l].query;
      if (const auto* lines = std::get_if<streamlines::Query>(&query)) surfaces[l] = lines_of(l, *lines, input);
      if (in_levels(scene_.layers[l])) {
        surfaces[l] = level_layers_.surface(l, std::get<IsosurfaceQuery>(query), input);
      }
    }
    for (std::size_t v = 0; v < scene_.views.size();) {
      for (Canvas& canvas : canvases_from(v, domain, input.iteration)) {
        for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
          draw(l, surfaces[l], ranges, canvas.camera, canvas.rasteriser);
        }
        drawn[v++].push_back(encode(canvas.drawing));
      }
    }
  }

  /// Finds ranges in the first pass. Layers that decide a range are extracted, and kept for the second pass.
  [[nodiscard]] Bytes local_ranges(const LocalInput& input, LayerRims& rims) {
    pieces_.drop_others(input.iteration);
    Ranges ranges = ranges_.nothing();
    for (const std::int32_t coordinates : scene_.coordinates) {
      for (const BlockView& view : input.of(coordinates)) ranges_.add_places(view, ranges);
    }
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const Layer& layer = scene_.layers[l];
      const auto* particles = std::get_if<ParticlesQuery>(&layer.query);
      const bool places = particles != nullptr && particles->in_domain;
      if ((!ranges_.is_open(layer) && !places) || std::holds_alternative<streamlines::Query>(layer.query)) continue;
      if (const auto* volume = std::get_if<VolumeQuery>(&layer.query)) {
        ranges_.add_values(layer, *volume, input, ranges);
        continue;
      }
      LevelPieces found = LayerPieces::extract_layer(layer, input);
      for (const Piece& piece : found.pieces) {
        if (places) ranges_.add_balls(*particles, piece, ranges);
        if (ranges_.is_open(layer)) ranges_.add_values(layer, piece, ranges);
      }
      rims.add(l, found.rims);
      pieces_.keep(l, input, std::move(found));
    }
    return bytes_of(ranges);
  }

  /// Collective: the lines of a layer, which the first pass may have traced.
  [[nodiscard]] std::vector<Piece> lines_of(std::size_t l, const streamlines::Query& query, const CombineInput& input) {
    std::optional<std::vector<Piece>> kept = std::exchange(lines_[l], std::nullopt);
    return kept ? std::move(*kept) : pieces_of_lines(query, input);
  }

  /// Collective: ranges found by the servers whose partials came here, and by surfaces between blocks.
  [[nodiscard]] std::vector<Ranges> seen_by_all(const CombineInput& input) {
    LayerRims rims(scene_.layers.size());
    const std::vector<Bytes> partials =
        has_levels() ? rims.split(input.partials) : std::vector<Bytes>(input.partials.begin(), input.partials.end());
    std::vector<Ranges> seen{ranges_.nothing()};
    for (std::size_t l = 0; l < scene_.layers.size(); ++l) {
      const Layer& layer = scene_.layers[l];
      if (!is_completed(layer) || !ranges_.is_open(layer)) continue;
      if (const auto* lines = std::get_if<streamlines::Query>(&layer.query)) {
        lines_[l] = pieces_of_lines(*lines, input);
        for (const Piece& piece : *lines_[l]) ranges_.add_values(layer, piece, seen.front());
        continue;
      }
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
  [[nodiscard]] Camera camera_for(std::size_t view, const Domain& domain, const Iteration& iteration) const {
    const Viewport viewport = in_samples(pictures_.layout().viewport());
    const CameraSettings settings = scene_.views[view].at(iteration);
    const Camera camera(settings, domain, viewport);
    double reach = 0;
    for (const Layer& layer : scene_.layers) {
      const auto* particles = std::get_if<ParticlesQuery>(&layer.query);
      if (particles == nullptr) continue;
      double farthest = 0;
      for (int c = 0; c < 8; ++c) farthest = std::max(farthest, camera.see(domain.corner(c)).ahead);
      const double sized = particles->pixels * scene_.samples * camera.sample_size(farthest);
      reach = std::max({reach, particles->radius, sized});
    }
    return reach > 0 ? Camera(settings, domain, viewport, reach) : camera;
  }

  void cast_volumes(const LocalInput& input, const Ranges& ranges, const Domain& domain, const Camera& camera,
                    Drawing& drawing) const {
    const DepthSlabs slabs(camera, domain);
    VolumeCaster caster(camera, scene_.width, scene_.height, scene_.samples, slabs);
    CellCaster cell_caster(camera, scene_.width, scene_.height, scene_.samples, slabs);
    std::vector<std::unique_ptr<TransferFunction>> functions;
    for (const Layer& layer : scene_.layers) {
      const auto* volume = std::get_if<VolumeQuery>(&layer.query);
      if (volume == nullptr) continue;
      const auto scale = static_cast<std::size_t>(layer.scale);
      functions.push_back(
          std::make_unique<TransferFunction>(function_of(*volume, materials_.map(scale), ranges[scale], domain)));
      const TransferFunction& function = *functions.back();
      const auto& variable = input.metadata.variables.at(static_cast<std::size_t>(volume->variable));
      if (has_coordinates(input.metadata.mesh_of(variable))) {
        for_each_block_of_cells(*volume, input, function, [&](std::unique_ptr<VolumeCells> cells) {
          cell_caster.add(std::move(cells), function);
        });
      } else {
        for_each_box(*volume, input, function, [&](VolumeBox box) { caster.add(std::move(box), function); });
      }
    }
    if (functions.empty()) return;
    caster.cast(drawing.slabs);
    cell_caster.cast(drawing.slabs);
  }

  /// Blocks come in the order of the first camera: nearer ones hide others before they are drawn.
  void draw_rows(std::size_t l, const IsosurfaceQuery& surface, const LocalInput& input, const Ranges& ranges,
                 Canvases& canvases) const {
    const auto distance = [&](const Vec3& place) { return canvases.front().camera.see(place).ahead; };
    extract_rows(surface, input, distance, [&](std::size_t value) {
      std::vector<std::unique_ptr<ContourRows>> drawn;
      for (Canvas& canvas : canvases) {
        canvas.rasteriser.begin(materials_.of(l, value, ranges), true, false);
        drawn.push_back(std::make_unique<DrawnRows>(canvas.rasteriser));
      }
      return drawn.size() == 1 ? std::move(drawn.front()) : std::make_unique<RowsOfViews>(std::move(drawn));
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
      const bool patches = std::holds_alternative<PatchesQuery>(layer.query);
      const double width = layer.width > 0 ? layer.width * scene_.samples
                           : patches       ? patch_width()
                                           : 1.5 * line_width();
      if (patches) {
        const auto lines = distinct_edges(piece, camera, narrowest_cell * scene_.samples);
        draw_lines({piece.points.wide(), lines, {}}, camera, width, material, rasteriser);
        continue;
      }
      draw_lines({piece.points.wide(), piece.lines, triangles.values}, camera, width, material, rasteriser);
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

  Scene scene_;
  ShownRanges ranges_;
  Materials materials_;
  ViewPictures pictures_;
  Selection selection_;
  std::deque<Drawing> drawings_;  ///< kept for reuse
  LevelLayers level_layers_;
  Absence absence_;
  RunningRanges running_;
  LayerPieces pieces_;
  std::vector<std::optional<std::vector<Piece>>> lines_;  ///< by layer, kept by the first combine for the second
  Ranges shown_;                                          ///< kept from the first pass's combine to the second's
};

}  // namespace

AnalysisKind render_kind() {
  return {"render",
          "Draws isosurfaces, coloured slices, the boundary faces of parts of meshes, and particles, and writes the "
          "image, one frame per iteration. The same data give the same bytes in every placement.",
          scene_options(),
          [](const Settings& settings, const Metadata& metadata) -> std::unique_ptr<Task> {
            return std::make_unique<Render>(read_scene(settings, metadata), metadata);
          },
          true,
          [](const Settings& settings) { return settings.given("streamlines"); }};
}

}  // namespace sidestream
