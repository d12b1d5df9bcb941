#include "visualisation/render/layer_pieces.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "visualisation/extract/level_layers.hpp"

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

}  // namespace sidestream::rendering
