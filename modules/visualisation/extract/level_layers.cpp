#include "visualisation/extract/level_layers.hpp"

#include <utility>

#include "sidestream/kit/base/records.hpp"

namespace sidestream {

void LevelLayers::add(std::size_t layer, LevelPieces found) { given_[layer] = std::move(found); }

Bytes LevelLayers::partial(const LocalInput& input, BytesView rest) {
  const std::size_t layers = given_.size();
  LayerRims rims(layers);
  ByteWriter out;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    rims.add(layer, std::move(given_[layer].rims));
    out.put(held_[layer].give(std::move(given_[layer].pieces), input));
    given_[layer] = {};
  }
  out.put_all(rest);
  return rims.with(out.take());
}

std::vector<Bytes> LevelLayers::take(const CombineInput& input) {
  const std::size_t layers = given_.size();
  rims_ = LayerRims(layers);
  std::vector<Bytes> rests;
  std::vector<std::vector<Bytes>> given(layers);
  for (const Bytes& partial : rims_.split(input.partials)) {
    ByteReader in(partial);
    for (std::vector<Bytes>& of_layer : given) in.get(of_layer.emplace_back());
    in.get_all(rests.emplace_back(), in.left());
  }
  for (std::size_t layer = 0; layer < layers; ++layer) pieces_[layer] = held_[layer].take(input, given[layer]);
  return rests;
}

std::vector<Piece> LevelLayers::surface(std::size_t layer, const IsosurfaceQuery& query, const CombineInput& input) {
  std::vector<Piece> pieces = std::exchange(pieces_[layer], {});
  const std::size_t between = pieces.size();
  for (Piece& piece : pieces_between(query, input.metadata, rims_.of(layer), input.communicator)) {
    pieces.push_back(std::move(piece));
  }
  if (query.normals) add_normals(query, input.metadata, rims_.of(layer), pieces, between, input.communicator);
  return pieces;
}

void LevelLayers::drop() noexcept {
  for (LocalPieces& held : held_) held.drop();
  for (LevelPieces& given : given_) given = {};
  for (std::vector<Piece>& pieces : pieces_) pieces.clear();
}

}  // namespace sidestream
