#include "server/gathering.hpp"

#include <map>

namespace sidestream {

namespace {

/// The indices of a variable's values on a piece of a block.
Box points_of_piece(const Variable& variable, Block block, const Box& cells) {
  block.cells = cells;
  return variable.points(block);
}

}  // namespace

Gathering::Gathering(const Metadata& metadata, const BlockTable& table, const Movement& movement, Owned owned)
    : metadata_(metadata), table_(table), movement_(movement), owned_(std::move(owned)) {
  for (const Variable& variable : metadata_.variables) {
    if (movement_.halo[static_cast<std::size_t>(variable.id)].empty()) continue;
    const std::size_t first = own_.size();
    add_pieces(variable);
    add_layers(variable, first);
  }
}

void Gathering::add_pieces(const Variable& variable) {
  const auto& halo = movement_.halo[static_cast<std::size_t>(variable.id)];
  for (std::size_t p = 0; p < movement_.pieces.size(); ++p) {
    const Movement::Piece& piece = movement_.pieces[p];
    const std::int32_t width = halo[static_cast<std::size_t>(piece.block)];
    if (width < 0) continue;
    const Block& block = table_.blocks()[static_cast<std::size_t>(piece.block)];
    own_of_.emplace(std::pair(variable.id, piece.block), own_.size());
    own_.push_back(
        {variable.id, width, p, wanted_.size(), owned_by_piece(variable, block, piece.cells, owned_(variable, block))});
    wanted_.push_back({block, variable.id, 0, points_of_piece(variable, block, piece.cells)});
  }
}

Box Gathering::reach(const Own& own) const { return grown(wanted_[own.wanted].points, own.halo); }

/// Adds to `fetched`, which stays disjoint, what the neighbour owns of the piece's reach and no piece here counts as
/// its own.
void Gathering::add_layer_of(const Variable& variable, const Own& own, std::int64_t neighbour,
                             std::vector<Box>& fetched) const {
  const Block& block = table_.blocks()[static_cast<std::size_t>(neighbour)];
  std::vector<Box> missing;
  for (const Box& box : owned_(variable, block)) {
    const Box part = intersection(box, reach(own));
    if (!part.empty()) missing.push_back(part);
  }
  const auto [first, last] = own_of_.equal_range({variable.id, neighbour});
  for (auto it = first; it != last; ++it) {
    for (const Box& here : own_[it->second].owned) missing = difference(missing, here);
  }
  for (const Box& known : std::vector<Box>(fetched)) missing = difference(missing, known);
  fetched.insert(fetched.end(), missing.begin(), missing.end());
}

void Gathering::add_layers(const Variable& variable, std::size_t first_own) {
  std::map<std::int64_t, std::vector<Box>> fetched;  // by neighbour
  for (std::size_t n = first_own; n < own_.size(); ++n) {
    const Own& own = own_[n];
    if (own.halo == 0) continue;
    const Movement::Piece& piece = movement_.pieces[own.piece];
    const Block& block = table_.blocks()[static_cast<std::size_t>(piece.block)];
    for (const std::int64_t neighbour : table_.near(block.mesh, block.level, grown(piece.cells, own.halo))) {
      add_layer_of(variable, own, neighbour, fetched[neighbour]);
    }
  }
  for (const auto& [neighbour, boxes] : fetched) {
    for (const Box& box : boxes) {
      layers_of_.emplace(std::pair(variable.id, neighbour), layers_.size());
      layers_.push_back({variable.id, neighbour, wanted_.size()});
      wanted_.push_back({table_.blocks()[static_cast<std::size_t>(neighbour)], variable.id, 0, box});
    }
  }
}

Gathering::Bytes Gathering::count(std::span<const std::byte* const> values) const {
  Bytes bytes;
  const auto size = [&](std::size_t n) {
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(wanted_[n].variable)];
    return values[n] ? packed_bytes(wanted_[n].points, variable.components, variable.type) : 0;
  };
  for (const Own& own : own_) {
    bytes.blocks += values[own.wanted] != nullptr;
    bytes.pieces += size(own.wanted);
  }
  for (const Layer& layer : layers_) bytes.layers += size(layer.wanted);
  return bytes;
}

ArrayView Gathering::array(std::size_t wanted, const std::byte* data) const {
  const Variable& variable = metadata_.variables[static_cast<std::size_t>(wanted_[wanted].variable)];
  ArrayView view;
  view.data = data;
  view.type = variable.type;
  view.box = wanted_[wanted].points;
  view.components = variable.components;
  view.strides = packed_strides(view.box, view.components, variable.order);
  return view;
}

void Gathering::add_halo(const Own& own, BlockView& view, std::span<const std::byte* const> values) const {
  const Movement::Piece& piece = movement_.pieces[own.piece];
  const Block& block = table_.blocks()[static_cast<std::size_t>(piece.block)];
  const Box region = reach(own);
  const auto offer = [&](const Box& box, std::size_t wanted) {
    const Box part = intersection(box, region);
    if (!part.empty()) view.halo.push_back(HaloPiece{part, array(wanted, values[wanted])});
  };
  for (const std::int64_t neighbour : table_.near(block.mesh, block.level, grown(piece.cells, own.halo))) {
    const auto [first, last] = own_of_.equal_range({own.variable, neighbour});
    for (auto it = first; it != last; ++it) {
      const Own& other = own_[it->second];
      if (&other == &own || !values[other.wanted]) continue;
      for (const Box& box : other.owned) offer(box, other.wanted);
    }
    const auto [layer, end] = layers_of_.equal_range({own.variable, neighbour});
    for (auto it = layer; it != end; ++it) {
      const std::size_t wanted = layers_[it->second].wanted;
      if (values[wanted]) offer(wanted_[wanted].points, wanted);
    }
  }
}

std::vector<std::vector<BlockView>> Gathering::views(std::span<const std::byte* const> values) const {
  std::vector<std::vector<BlockView>> result(metadata_.variables.size());
  for (const Own& own : own_) {
    if (!values[own.wanted]) continue;
    const Movement::Piece& piece = movement_.pieces[own.piece];
    BlockView view;
    view.block = wanted_[own.wanted].block;
    view.block.id = piece.id;
    view.block.cells = piece.cells;
    view.points = wanted_[own.wanted].points;
    view.copy = piece.copy;
    view.array = array(own.wanted, values[own.wanted]);
    if (!piece.copy) view.owned = own.owned;
    // A copy's points count elsewhere, but may be looked at.
    for (const Box& box : own.owned) {
      if (piece.copy) view.halo.push_back(HaloPiece{box, view.array});
    }
    if (own.halo > 0) add_halo(own, view, values);
    result[static_cast<std::size_t>(own.variable)].push_back(std::move(view));
  }
  return result;
}

}  // namespace sidestream
