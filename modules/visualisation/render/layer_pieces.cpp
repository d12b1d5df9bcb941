#include "visualisation/render/layer_pieces.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::rendering {

namespace {

std::int32_t leading(const IsosurfaceQuery& query) { return query.variable; }
std::int32_t leading(const SliceQuery& query) { return query.variables.front(); }
std::int32_t leading(const PartQuery& query) { return query.variables.front(); }
std::int32_t leading(const ParticlesQuery& query) { return query.coordinates; }
std::int32_t leading(const VolumeQuery& query) { return query.variable; }
std::int32_t leading(const streamlines::Query& query) { return query.values.variables.front(); }
std::int32_t leading(const PatchesQuery&) { return -1; }

}  // namespace

bool in_levels(const Layer& layer) {
  const auto* surface = std::get_if<IsosurfaceQuery>(&layer.query);
  return surface != nullptr && surface->in_levels;
}

bool is_completed(const Layer& layer) {
  return in_levels(layer) || std::holds_alternative<streamlines::Query>(layer.query);
}

std::int32_t leading_variable(const Layer::Query& query) {
  return std::visit([](const auto& of_kind) { return leading(of_kind); }, query);
}

LevelPieces LayerPieces::extract_layer(const Layer& layer, const LocalInput& input) {
  if (in_levels(layer)) return extract_from_levels(std::get<IsosurfaceQuery>(layer.query), input);
  const auto extracted = [&](const auto& query) {
    if constexpr (requires { extract(query, input); }) {
      return extract(query, input);
    } else {
      return std::vector<Piece>();
    }
  };
  return {std::visit(extracted, layer.query), {}};
}

void LayerPieces::keep(std::size_t layer, const LocalInput& input, LevelPieces found) {
  kept_.push_back({layer, input.iteration.index, blocks_of(layer, input), std::move(found)});
}

LevelPieces LayerPieces::take(std::size_t layer, const LocalInput& input) {
  const std::vector<std::int64_t> blocks = blocks_of(layer, input);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.layer == layer && kept.iteration == input.iteration.index && kept.blocks == blocks;
  });
  if (found == kept_.end()) return extract_layer(scene_->layers[layer], input);
  LevelPieces pieces = std::move(found->found);
  kept_.erase(found);
  return pieces;
}

void LayerPieces::drop_others(const Iteration& iteration) {
  std::erase_if(kept_, [&](const Kept& kept) { return kept.iteration != iteration.index; });
}

std::vector<std::int64_t> LayerPieces::blocks_of(std::size_t layer, const LocalInput& input) const {
  std::vector<std::int64_t> ids;
  const std::int32_t variable = leading_variable(scene_->layers[layer].query);
  if (variable < 0) return ids;
  for (const BlockView& view : input.of(variable)) ids.push_back(view.block.id);
  return ids;
}

std::vector<Piece> pieces_of_lines(const streamlines::Query& query, const CombineInput& input) {
  if (input.local == nullptr) {
    fail(Code::configuration,
         "found stream lines in a picture with 'forward: partials', where servers have no blocks to trace them in; "
         "choose another placement, or leave 'streamlines' out");
  }
  const streamlines::Lines lines = streamlines::trace(query, *input.local, input.communicator);
  if (input.communicator.rank() != 0) return {};
  const std::size_t count = sampling::value_count(query.values, input.metadata);
  Piece piece;
  piece.data.resize(count);
  for (std::size_t n = 0; n < lines.vertices.size(); ++n) {
    streamlines::Place at = lines.vertices[n].at;
    if (query.dimensions < 3) at[2] = query.flat;
    piece.points.push_back(at);
    for (std::size_t c = 0; c < count; ++c) piece.data[c].push_back(lines.values[n * count + c]);
  }
  piece.lines = streamlines::segments_of(lines);
  std::vector<Piece> pieces;
  pieces.push_back(std::move(piece));
  return pieces;
}

namespace {

/// The rectangle that the picture of a cell fills; infinite if a part of it is not ahead of the camera.
class CellExtent {
 public:
  void add(const Vec3& place, const Camera& camera) {
    const Seen seen = camera.see(place);
    if (!camera.parallel() && !(seen.ahead >= camera.near())) {
      left_ = top_ = -1e30;
      right_ = bottom_ = 1e30;
      return;
    }
    const Projection p = camera.project(seen);
    left_ = std::min(left_, p.x), right_ = std::max(right_, p.x);
    top_ = std::min(top_, p.y), bottom_ = std::max(bottom_, p.y);
  }
  [[nodiscard]] double smaller_side() const { return std::min(right_ - left_, bottom_ - top_); }

 private:
  double left_ = 1e30, right_ = -1e30, top_ = 1e30, bottom_ = -1e30;
};

}  // namespace

std::vector<std::array<std::int64_t, 2>> distinct_edges(const Piece& piece, const Camera& camera, double least) {
  std::vector<std::array<std::int64_t, 2>> kept;
  for (std::size_t first = 0, end = 0; first < piece.lines.size(); first = end) {
    CellExtent extent;
    // The outline of a cell ends where it began.
    for (bool closed = false; !closed && end < piece.lines.size(); ++end) {
      extent.add(piece.points[static_cast<std::size_t>(piece.lines[end][0])], camera);
      closed = piece.lines[end][1] == piece.lines[first][0];
    }
    if (extent.smaller_side() < least) continue;
    kept.insert(kept.end(), piece.lines.begin() + static_cast<std::ptrdiff_t>(first),
                piece.lines.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return kept;
}

}  // namespace sidestream::rendering
