#include "server/redistribution/exchange_plan.hpp"

#include "data/images.hpp"
#include "server/redistribution/exchange_plan_builder.hpp"
#include "sidestream/kit/data/box_values.hpp"

namespace sidestream {

namespace {

/// View of the same values with shifted indices.
ArrayView under_other_indices(ArrayView array, const Index3& shift) {
  array.box = moved(array.box, shift);
  return array;
}

std::vector<Box> without(std::vector<Box> boxes, const std::vector<Box>& holes) {
  for (const Box& hole : holes) boxes = difference(boxes, hole);
  return boxes;
}

}  // namespace

ExchangePlan::ExchangePlan(const Metadata& metadata, const BlockTable& table,
                           std::shared_ptr<const BlockAssignment> assignment, const Place& place, const Owned& owned,
                           const Allocated& allocated)
    : metadata_(metadata), assignment_(std::move(assignment)), place_(place) {
  Builder(*this, table, owned, allocated).build();
}

ExchangePlan::Amount ExchangePlan::count(std::span<const ArrayView> values) const {
  Amount amount;
  const auto size = [&](std::size_t n) {
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(wanted_[n].variable)];
    return values[n].data ? packed_bytes(wanted_[n].points, variable.components, variable.type) : 0;
  };
  for (const Own& own : own_) {
    if (place_.values_in_place) break;
    amount.blocks += values[own.wanted].data != nullptr;
    amount.pieces += size(own.wanted);
  }
  for (const std::size_t layer : layers_) amount.layers += size(layer);
  return amount;
}

BlockView ExchangePlan::view_of(const Own& own, std::span<const ArrayView> values) const {
  const BlockAssignment::Piece& piece = assignment_->pieces[own.piece];
  BlockView view;
  view.block = wanted_[own.wanted].block.part(piece.cells);
  view.block.id = piece.id;
  view.points = own.points;
  view.copy = piece.copy;
  view.array = values[own.wanted];
  if (!piece.copy) view.owned = own.owned;
  // The points of a copy count elsewhere, but may be read.
  for (const Box& box : own.owned) {
    if (piece.copy) view.halo.push_back(HaloPiece{box, view.array});
  }
  for (const Source& source : own.around) {
    if (values[source.wanted].data) {
      view.halo.push_back(HaloPiece{source.box, under_other_indices(values[source.wanted], source.shift)});
    }
  }
  return view;
}

BlockView ExchangePlan::view_of(const Piece& piece, std::span<const ArrayView> values, Views& result) const {
  const Selected& selected = assignment_->decomposed[piece.number];
  const Variable& variable = metadata_.variables[static_cast<std::size_t>(selected.variable)];
  BlockView view;
  view.block = piece.block;
  view.points = piece.points;
  view.array.type = variable.type;
  view.array.box = piece.box;
  view.array.components = variable.components;
  view.array.strides = packed_strides(piece.box, variable.components, variable.order);
  const std::uint64_t bytes = packed_bytes(piece.box, variable.components, variable.type);
  // Left uninitialised: every value is written below.
  result.memory.emplace_back(new std::byte[bytes]);
  view.array.data = result.memory.back().get();
  view.absent = piece.absent;
  for (const Source& source : piece.sources) {
    if (values[source.wanted].data) {
      copy_box(under_other_indices(values[source.wanted], source.shift), view.array, source.box);
    } else {
      view.absent.push_back(source.box);
    }
  }
  for (const Box& box : view.absent) erase_box(view.array, box);
  view.owned = without({piece.own}, view.absent);
  for (const Box& box : without(difference(piece.box, piece.own), view.absent)) {
    view.halo.push_back(HaloPiece{box, view.array});
  }
  return view;
}

bool ExchangePlan::refresh(Views& views, std::span<const ArrayView> values) const {
  if (!assignment_->decomposed.empty()) return false;
  std::vector<std::size_t> next(views.blocks.size(), 0);
  for (const Own& own : own_) {
    const ArrayView& array = values[own.wanted];
    if (!array.data) continue;
    const auto v = static_cast<std::size_t>(own.variable);
    const BlockAssignment::Piece& piece = assignment_->pieces[own.piece];
    if (next[v] == views.blocks[v].size() || piece.copy || !own.around.empty()) return false;
    BlockView& view = views.blocks[v][next[v]++];
    if (view.block.id != piece.id) return false;
    view.array = array;
    view.ghosts = {};
  }
  for (std::size_t v = 0; v < next.size(); ++v) {
    if (next[v] != views.blocks[v].size()) return false;
  }
  return true;
}

Views ExchangePlan::views(std::span<const ArrayView> values) const {
  Views result;
  result.blocks.resize(metadata_.variables.size());
  for (const Own& own : own_) {
    if (values[own.wanted].data) result.blocks[static_cast<std::size_t>(own.variable)].push_back(view_of(own, values));
  }
  for (const Selected& selected : assignment_->decomposed) result.pieces.push_back({selected, {}});
  for (const Piece& piece : pieces_) result.pieces[piece.number].views.push_back(view_of(piece, values, result));
  return result;
}

const PieceViews* find_pieces(const Views& views, const Selected& like, std::int32_t variable) {
  Selected wanted = like;
  wanted.variable = variable;
  const auto found = std::find_if(views.pieces.begin(), views.pieces.end(),
                                  [&](const PieceViews& pieces) { return same_pieces(pieces.selected, wanted); });
  return found == views.pieces.end() ? nullptr : &*found;
}

std::vector<EntryViews> entry_views(const std::vector<Selected>& entries, const Metadata& metadata,
                                    const Views& views) {
  std::vector<EntryViews> result;
  for (const Selected& entry : entries) {
    EntryViews& one = result.emplace_back();
    one.variable = entry.variable;
    one.views.resize(metadata.variables.size(), nullptr);
    const auto give = [&](std::int32_t variable) {
      const auto v = static_cast<std::size_t>(variable);
      if (entry.decomposition.is_published()) {
        one.views[v] = &views.blocks[v];
      } else if (const PieceViews* pieces = find_pieces(views, entry, variable)) {
        one.views[v] = &pieces->views;
      }
    };
    give(entry.variable);
    for (const std::int32_t array :
         metadata.mesh_of(metadata.variables[static_cast<std::size_t>(entry.variable)]).arrays) {
      if (array >= 0) give(array);
    }
  }
  return result;
}

}  // namespace sidestream
