// Builder of an ExchangePlan, in three passes.
//
// 1. Notes the arrays of own pieces, and the pieces of decompositions that this server gets.
// 2. For the region around each view, notes the points that neither a piece of this server nor the view's own array has
//    (note). Missing points are fetched once from the blocks that own them (settle).
// 3. For each view, finds the sources of its points among the arrays and fetched boxes (sources_of). Regions beyond
//    periodic faces are looked up at their periodic images, with a shift of indices.

#include "server/redistribution/exchange_plan_builder.hpp"

#include <algorithm>

#include "data/images.hpp"

namespace sidestream {

namespace {

/// The box shifted by the opposite of `shift`.
Box moved_back(const Box& box, const Index3& shift) { return moved(box, {-shift[0], -shift[1], -shift[2]}); }

Index points_in(const std::vector<Box>& boxes) {
  Index sum = 0;
  for (const Box& box : boxes) sum += box.count();
  return sum;
}

}  // namespace

std::size_t ExchangePlan::Builder::want(const Variable& variable, std::int64_t position, const Box& points) {
  plan_.wanted_.push_back({table_.blocks()[static_cast<std::size_t>(position)], variable.id, 0, points});
  plan_.holders_.push_back(table_.server(position));
  return plan_.wanted_.size() - 1;
}

void ExchangePlan::Builder::add_own(const Variable& variable) {
  const BlockAssignment& assignment = *plan_.assignment_;
  const auto& halo = assignment.halo[static_cast<std::size_t>(variable.id)];
  if (halo.empty()) return;
  for (std::size_t p = 0; p < assignment.pieces.size(); ++p) {
    const BlockAssignment::Piece& piece = assignment.pieces[p];
    const std::int32_t width = halo[static_cast<std::size_t>(piece.block)];
    if (width < 0) continue;
    const Block& block = table_.blocks()[static_cast<std::size_t>(piece.block)];
    if (block.mesh != variable.mesh) continue;
    std::vector<Box> owned = owned_by_piece(variable, block, piece.cells, owned_(variable, block));
    const Box points = variable.points(block.part(piece.cells));
    const std::size_t wanted = want(variable, piece.block, taken(variable, piece, points, width));
    holdings_[{variable.id, piece.block}].push_back({wanted, owned});
    plan_.own_.push_back({variable.id, width, p, wanted, points, std::move(owned)});
  }
}

/// The part of a block's array to take for a piece with `points`: the points and the required ghosts around them. A
/// piece has ghosts only on sides where the block ends, along the axes of the mesh.
Box ExchangePlan::Builder::taken(const Variable& variable, const BlockAssignment::Piece& piece, const Box& points,
                                 std::int32_t halo) const {
  const bool ghosts = plan_.assignment_->wants_ghosts(variable.id, piece.block);
  const Block& block = table_.blocks()[static_cast<std::size_t>(piece.block)];
  const std::int32_t reach = std::max(halo, completes(variable) ? 1 : 0);
  if (!allocated_ || points.empty() || block.is_list() || !(ghosts || (variable.filled && reach > 0))) return points;
  const int dimensions = plan_.metadata_.mesh_of(variable).dimensions;
  Box box = allocated_(variable, block);
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a);
    if (a >= dimensions || piece.cells.lo[n] != block.cells.lo[n]) box.lo[n] = points.lo[n];
    if (a >= dimensions || piece.cells.hi[n] != block.cells.hi[n]) box.hi[n] = points.hi[n];
  }
  return ghosts ? box : intersection(box, grown(points, reach));
}

void ExchangePlan::Builder::add_piece(std::size_t number) {
  const Selected& selected = plan_.assignment_->decomposed[number];
  const Variable& variable = plan_.metadata_.variables[static_cast<std::size_t>(selected.variable)];
  const Mesh& mesh = plan_.metadata_.mesh_of(variable);
  Piece piece{number, {}, {}, {}, {}};
  piece.block.id = -1 - static_cast<std::int64_t>(plan_.place_.server);
  piece.block.mesh = mesh.id;
  piece.block.client = -1;
  piece.block.cells = piece_of(selected.decomposition, mesh, plan_.place_.servers, plan_.place_.server);
  if (piece.block.cells.empty()) return;
  piece.points = variable.points(piece.block.cells);
  Box around = piece.points;
  piece.own = piece.points;
  for (int a = 0; a < mesh.dimensions; ++a) {
    const auto n = static_cast<std::size_t>(a);
    around.lo[n] -= selected.halo;
    around.hi[n] += selected.halo;
    piece.own.hi[n] =
        piece.block.cells.hi[n] < mesh.cells.hi[n] ? piece.block.cells.hi[n] : mesh.points(variable.centering).hi[n];
  }
  piece.box = within_faces(around, mesh, variable.points(mesh.cells), selected.wrap);
  plan_.pieces_.push_back(std::move(piece));
}

ExchangePlan::Builder::Region ExchangePlan::Builder::region_of(const Own& own) const {
  const Variable& variable = plan_.metadata_.variables[static_cast<std::size_t>(own.variable)];
  const Wanted& wanted = plan_.wanted_[own.wanted];
  const std::int32_t wrap = plan_.assignment_->wrap[static_cast<std::size_t>(own.variable)];
  const Box around = completes(variable) ? variable.points(plan_.assignment_->pieces[own.piece].cells) : own.points;
  Region region{variable, wanted.block.level, grown(around, own.halo), grown(around, std::min(own.halo, wrap)), &own};
  const Mesh& mesh = plan_.metadata_.mesh_of(variable);
  if (mesh.owned_points) {
    // The mesh includes the last nodes of periodic axes, but blocks have only the first ones.
    const Box inside = intersection(region.plain, variable.points(mesh.cells));
    for (std::size_t a = 0; a < 3; ++a) region.wrapped.hi[a] = std::max(region.wrapped.hi[a], inside.hi[a]);
    for (std::size_t a = 0; a < 3; ++a) region.wrapped.lo[a] = std::min(region.wrapped.lo[a], inside.lo[a]);
  }
  if (variable.filled) region.filled = wanted.points;
  return region;
}

ExchangePlan::Builder::Region ExchangePlan::Builder::region_of(const Piece& piece) const {
  const Selected& selected = plan_.assignment_->decomposed[piece.number];
  const Variable& variable = plan_.metadata_.variables[static_cast<std::size_t>(selected.variable)];
  const bool ends = plan_.metadata_.mesh_of(variable).owned_points;  // the box has the last nodes of periodic axes
  return {variable, 0, piece.box, selected.wrap || ends ? piece.box : piece.points};
}

/// Calls f(position, source, shift) for each block that may have points of the region, and for its periodic images.
template <class F>
void ExchangePlan::Builder::for_each_block(const Region& region, F&& f) const {
  const Mesh& mesh = plan_.metadata_.mesh_of(region.variable);
  const auto visit = [&](const Box& source, const Index3& shift) {
    for (const std::int64_t position : table_.near(mesh.id, region.level, source)) f(position, source, shift);
  };
  visit(region.plain, {0, 0, 0});
  const bool any = mesh.periodic[0] || mesh.periodic[1] || mesh.periodic[2];
  if (!any) return;
  for (const PeriodicImage& image : images_of(region.wrapped, mesh.cells_on(region.level), region.variable.centering,
                                              mesh.periodic, mesh.owned_points)) {
    visit(image.source, image.shift);
  }
}

/// Parts of the region that a block owns, in the indices of `source`.
std::vector<Box> ExchangePlan::Builder::parts_of(const Region& region, std::int64_t position, const Box& source,
                                                 const Index3& shift) const {
  std::vector<Box> parts;
  for (const Box& box : owned_(region.variable, table_.blocks()[static_cast<std::size_t>(position)])) {
    const Box part = intersection(box, source);
    if (!part.empty()) parts.push_back(part);
  }
  const Own* own = region.own;
  if (!own || shift != Index3{0, 0, 0} || plan_.assignment_->pieces[own->piece].block != position) return parts;
  for (const Box& box : own->owned) parts = difference(parts, box);
  return parts;
}

/// Notes the points of the region that neither a piece of this server nor the view's own array has.
void ExchangePlan::Builder::note(const Region& region) {
  for_each_block(region, [&](std::int64_t position, const Box& source, const Index3& shift) {
    const Block& block = table_.blocks()[static_cast<std::size_t>(position)];
    const Key key(region.variable.id, position);
    std::vector<Box> missing = parts_of(region, position, source, shift);
    if (!region.filled.empty()) missing = difference(missing, moved_back(region.filled, shift));
    if (missing.empty()) return;
    std::vector<Holding>& here = holdings_[key];
    if (here.empty() && plan_.place_.values_in_place && table_.server(position) == plan_.place_.server) {
      const std::size_t wanted = want(region.variable, position, region.variable.points(block));
      here.push_back({wanted, owned_(region.variable, block)});
    }
    for (const Holding& holding : here) {
      for (const Box& box : holding.boxes) missing = difference(missing, box);
    }
    std::vector<Box>& fetched = fetched_[key];
    for (const Box& known : fetched) missing = difference(missing, known);
    fetched.insert(fetched.end(), missing.begin(), missing.end());
  });
}

/// Fetches the missing points.
void ExchangePlan::Builder::settle() {
  for (const auto& [key, boxes] : fetched_) {
    const Variable& variable = plan_.metadata_.variables[static_cast<std::size_t>(key.first)];
    for (const Box& box : boxes) {
      const std::size_t wanted = want(variable, key.second, box);
      plan_.layers_.push_back(wanted);
      holdings_[key].push_back({wanted, {box}});
    }
  }
}

std::vector<ExchangePlan::Source> ExchangePlan::Builder::sources_of(const Region& region) const {
  std::vector<Source> sources;
  const auto add = [&](std::size_t wanted, const Box& box, const Index3& shift) {
    if (!box.empty()) sources.push_back({wanted, box, shift});
  };
  for_each_block(region, [&](std::int64_t position, const Box& source, const Index3& shift) {
    if (!region.filled.empty()) {
      for (const Box& part : parts_of(region, position, source, shift)) {
        add(region.own->wanted, intersection(moved(part, shift), region.filled), {0, 0, 0});
      }
    }
    const auto found = holdings_.find({region.variable.id, position});
    if (found == holdings_.end()) return;
    for (const Holding& holding : found->second) {
      // Skip the piece itself, whose points are in its array.
      if (region.own && holding.wanted == region.own->wanted && shift == Index3{0, 0, 0}) continue;
      for (const Box& box : holding.boxes) {
        const Box part = moved(intersection(box, source), shift);
        for (const Box& rest : difference(part, region.filled)) add(holding.wanted, rest, shift);
      }
    }
  });
  return sources;
}

void ExchangePlan::Builder::build() {
  for (const Variable& variable : plan_.metadata_.variables) add_own(variable);
  for (std::size_t n = 0; n < plan_.assignment_->decomposed.size(); ++n) add_piece(n);
  const auto has_halo = [&](const Own& own) {
    const bool wider = own.halo > 0 || completes(plan_.metadata_.variables[static_cast<std::size_t>(own.variable)]);
    return wider && !own.points.empty();
  };
  for (const Own& own : plan_.own_) {
    if (has_halo(own)) note(region_of(own));
  }
  for (const Piece& piece : plan_.pieces_) note(region_of(piece));
  settle();
  for (Own& own : plan_.own_) {
    if (has_halo(own)) own.around = sources_of(region_of(own));
  }
  for (Piece& piece : plan_.pieces_) {
    piece.sources = sources_of(region_of(piece));
    std::vector<Box> there;
    for (const Source& source : piece.sources) there.push_back(source.box);
    if (points_in(there) == piece.box.count()) continue;
    piece.absent = {piece.box};
    for (const Box& box : there) piece.absent = difference(piece.absent, box);
  }
}

}  // namespace sidestream
