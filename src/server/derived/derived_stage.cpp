// Derived variables, computed from assembled views. They are views like any other, so tasks see no difference.
//
// 1. deposit (collective): fields that sum particles or points are computed for all regions that will be needed.
// 2. derive: for each requested variable, the blocks or the piece of a decomposition. Tasks may ask for some blocks
//    only.
// 3. view: the region is the block with the halo, widened by the reach of the expression. Inputs are gathered with a
//    mark where they have values; the expression then runs line by line (DerivedEvaluator). Points are owned where all
//    inputs are; the others become halo pieces.
// A block that lacks an input gets no view.
#include "server/derived/derived_stage.hpp"

#include <algorithm>

#include "base/mpi/agree.hpp"
#include "data/images.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/kit/data/box_values.hpp"

namespace sidestream {

namespace {

const Variable& variable_of(const Metadata& metadata, std::int32_t id) {
  return metadata.variables[static_cast<std::size_t>(id)];
}

std::vector<Box> in_both(const std::vector<Box>& a, const std::vector<Box>& b) {
  std::vector<Box> both;
  for (const Box& one : a) {
    for (const Box& other : b) {
      const Box part = intersection(one, other);
      if (!part.empty()) both.push_back(part);
    }
  }
  return both;
}

/// Points of a view with their owners' values.
std::vector<Box> from_owners(const BlockView& view) {
  std::vector<Box> all = view.owned;
  for (const HaloPiece& piece : view.halo) all.push_back(piece.box);
  return all;
}

/// Ids of the requested blocks; nothing: all blocks.
std::optional<std::set<std::int64_t>> asked_for(const Variable& variable, std::span<const Selected> derived,
                                                const Metadata& metadata, const BlockTable& table) {
  std::set<std::int64_t> ids;
  const Needs needs(metadata, table.blocks(), {});
  for (const Selected& one : derived) {
    if (one.variable != variable.id || !one.decomposition.is_published()) continue;
    const Selected known = inputs_of({one}, metadata).front();
    const Part::Kind kind = known.part.kind;
    if (kind == Part::Kind::all || kind == Part::Kind::values || kind == Part::Kind::predicate) return std::nullopt;
    const std::vector<bool> needed = needs.of(known);
    for (std::size_t b = 0; b < needed.size(); ++b) {
      if (needed[b]) ids.insert(table.blocks()[b].id);
    }
  }
  return ids;
}

const BlockView* find_block(const std::vector<BlockView>& views, std::int64_t id) {
  const auto at = std::lower_bound(views.begin(), views.end(), id,
                                   [](const BlockView& view, std::int64_t other) { return view.block.id < other; });
  return at == views.end() || at->block.id != id ? nullptr : &*at;
}

/// Writes the values of one component to an array.
template <class T>
void store(const double* values, const PointLine& line, int component, const ArrayView& array) {
  auto* to = const_cast<T*>(array.at<T>(line.first[0], line.first[1], line.first[2], component));
  for (Index i = 0; i < line.count; ++i) to[i * array.strides[0]] = static_cast<T>(values[i]);
}

ArrayView new_array(const Variable& variable, const Box& box, Views& views) {
  ArrayView array;
  array.type = variable.type;
  array.box = box;
  array.components = variable.components;
  array.strides = packed_strides(box, variable.components, variable.order);
  const std::uint64_t bytes = packed_bytes(box, variable.components, variable.type);
  views.memory.emplace_back(new std::byte[std::max<std::uint64_t>(bytes, 1)]);
  array.data = views.memory.back().get();
  return array;
}

void fill(const ArrayView& array, DerivedEvaluator& evaluator) {
  std::vector<double> values(static_cast<std::size_t>(array.box.extent(0)));
  for_each_line(array.box, [&](const PointLine& line, Index) {
    for (int c = 0; c < array.components; ++c) {
      evaluator.line(c, line, values.data());
      if (array.type == Type::float32) {
        store<float>(values.data(), line, c, array);
      } else {
        store<double>(values.data(), line, c, array);
      }
    }
  });
}

}  // namespace

DerivedProgram& DerivedStage::program(const Variable& variable) {
  const auto found = programs_.find(variable.id);
  if (found != programs_.end()) return found->second;
  return programs_.emplace(variable.id, DerivedProgram(*variable.derivation, metadata_)).first->second;
}

Box DerivedStage::region_of(const Variable& variable, const BlockView& like, std::int32_t halo) const {
  if (like.block.is_list() || like.points.empty()) return like.points;
  const Mesh& mesh = metadata_.mesh_of(variable);
  const std::int32_t reach = variable.derivation->reach();
  // Coordinates of a curvilinear mesh do not continue beyond its faces, so neighbours end there.
  const bool wraps = mesh.axes() != nullptr || reach == 0;
  const Box all = variable.points(mesh.cells_on(like.block.level));
  return within_faces(grown(like.points, halo + reach), mesh, all, wraps);
}

std::int32_t DerivedStage::widest_halo(const Variable& variable, std::span<const Selected> derived) {
  std::int32_t halo = 0;
  for (const Selected& one : derived) {
    if (one.variable == variable.id && one.decomposition.is_published()) halo = std::max(halo, one.halo);
  }
  return halo;
}

std::vector<Box> DerivedStage::regions_of(const Selected& selected, std::span<const Selected> derived,
                                          const BlockTable& table, const Views& views) const {
  const Variable& variable = variable_of(metadata_, selected.variable);
  const std::int32_t like = variable.derivation->like(metadata_);
  std::vector<Box> regions;
  if (!selected.decomposition.is_published()) {
    const PieceViews* pieces = find_pieces(views, inputs_of({selected}, metadata_).front(), like);
    if (pieces != nullptr && !pieces->views.empty()) {
      regions.push_back(region_of(variable, pieces->views.front(), selected.halo));
    }
    return regions;
  }
  const auto asked = asked_for(variable, derived, metadata_, table);
  for (const BlockView& one : views.blocks[static_cast<std::size_t>(like)]) {
    if (asked && one.block.id >= 0 && !asked->contains(one.block.id)) continue;
    regions.push_back(region_of(variable, one, widest_halo(variable, derived)));
  }
  return regions;
}

void DerivedStage::deposit(std::span<const Selected> derived, const BlockTable& table, const Views& views,
                           Communicator& servers) {
  deposits_.clear();
  std::map<std::pair<std::int32_t, Deposit>, std::vector<Box>> wanted;  // by mesh; the same keys on all servers
  run_collectively(servers, [&] {
    for (const Selected& one : derived) {
      const Variable& variable = variable_of(metadata_, one.variable);
      if (variable.derivation->deposits().empty()) continue;
      const std::vector<Box> regions = regions_of(one, derived, table, views);
      for (const Deposit& deposit : variable.derivation->deposits()) {
        std::vector<Box>& all = wanted[{variable.mesh, deposit}];
        all.insert(all.end(), regions.begin(), regions.end());
      }
    }
    for (auto& [key, regions] : wanted) {
      const auto before = [](const Box& a, const Box& b) { return std::tie(a.lo, a.hi) < std::tie(b.lo, b.hi); };
      std::sort(regions.begin(), regions.end(), before);
      regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
    }
  });
  for (const auto& [key, regions] : wanted) {
    const Mesh& mesh = metadata_.meshes[static_cast<std::size_t>(key.first)];
    std::vector<DerivedField> fields = deposited(key.second, metadata_, mesh, views, regions, servers);
    run_collectively(servers, [&] {
      for (std::size_t n = 0; n < fields.size(); ++n) {
        deposits_[{key.first, regions[n]}][key.second] = std::move(fields[n]);
      }
    });
  }
}

std::optional<BlockView> DerivedStage::view(const Wanted& wanted, const Iteration& iteration, const ViewOf& view_of,
                                            Views& views) {
  const Variable& variable = wanted.variable;
  const Derivation& derivation = *variable.derivation;
  const Mesh& mesh = metadata_.mesh_of(variable);
  const BlockView& like = wanted.like;
  const bool wraps = mesh.axes() != nullptr || derivation.reach() == 0;
  const Box region = region_of(variable, like, wanted.halo);
  Box box = like.points;
  if (!like.block.is_list() && !like.points.empty()) {
    const Box all = variable.points(mesh.cells_on(like.block.level));
    box = within_faces(grown(like.points, wanted.halo), mesh, all, wraps && wanted.wrap);
  }
  for (const std::int32_t array : derivation.arrays(metadata_)) {
    if (view_of(array) == nullptr) return std::nullopt;
  }
  const std::int32_t places = derivation.coordinates(metadata_);
  const BlockView* coordinates = places < 0 ? nullptr : view_of(places);
  std::optional<CellWeights> cells;
  if (derivation.in_cells()) {
    const auto of = [&](Role role) -> const BlockView& { return *view_of(mesh.array(role)); };
    cells.emplace(mesh, CellArrays{*coordinates, of(Role::connectivity), of(Role::offsets), of(Role::types)});
  }
  std::map<std::int32_t, InputValues> inputs;
  std::vector<const InputValues*> same_points;
  std::vector<Box> there = from_owners(like);
  for (Box& one : there) one = intersection(one, box);
  for (const std::int32_t input : derivation.inputs()) {
    const BlockView* view = view_of(input);
    if (view == nullptr) return std::nullopt;
    const bool elsewhere = cells && variable_of(metadata_, input).centering != variable.centering;
    const auto& values = inputs.emplace(input, InputValues(*view, elsewhere ? view->points : region)).first->second;
    if (elsewhere) continue;
    same_points.push_back(&values);
    if (view != &like) there = in_both(there, from_owners(*view));
  }
  const Presence presence(region, same_points);
  // Positions cost time, and on rectilinear meshes with refinement levels nobody knows them.
  const Box placed = !derivation.has_places() ? Box{} : cells ? cells->points() : region;
  const DerivedPoints points(mesh, like.block.level, variable.centering, placed, coordinates);
  DerivedEvaluator evaluator(
      program(variable),
      {mesh, iteration, inputs, presence, points, region,
       derivation.deposits().empty() ? nullptr : &deposits_.at({mesh.id, region}), cells ? &*cells : nullptr},
      box);

  BlockView result = like;
  result.array = new_array(variable, box, views);
  fill(result.array, evaluator);
  result.owned = in_both(like.owned, there);
  result.halo.clear();
  for (const Box& one : result.owned) there = difference(there, one);
  for (const Box& one : there) {
    if (!one.empty()) result.halo.push_back({one, result.array});
  }
  return result;
}

void DerivedStage::derive_blocks(const Variable& variable, std::span<const Selected> derived,
                                 const Iteration& iteration, const BlockTable& table, Views& views) {
  const std::int32_t halo = widest_halo(variable, derived);
  const auto asked = asked_for(variable, derived, metadata_, table);
  const auto like = static_cast<std::size_t>(variable.derivation->like(metadata_));
  std::vector<BlockView>& result = views.blocks[static_cast<std::size_t>(variable.id)];
  for (const BlockView& one : views.blocks[like]) {
    const std::int64_t id = one.block.id;  // parts of a block have negative ids, and requests are not checked for them
    if (asked && id >= 0 && !asked->contains(id)) continue;
    const auto view_of = [&](std::int32_t input) {
      return find_block(views.blocks[static_cast<std::size_t>(input)], id);
    };
    if (auto made = view({variable, one, halo, true}, iteration, view_of, views)) result.push_back(std::move(*made));
  }
}

void DerivedStage::derive_piece(const Selected& selected, const Iteration& iteration, Views& views) {
  const Variable& variable = variable_of(metadata_, selected.variable);
  const Selected of_input = inputs_of({selected}, metadata_).front();
  PieceViews result{selected, {}};
  const auto view_of = [&](std::int32_t input) -> const BlockView* {
    const PieceViews* pieces = find_pieces(views, of_input, input);
    return pieces == nullptr || pieces->views.empty() ? nullptr : &pieces->views.front();
  };
  const BlockView* like = view_of(variable.derivation->like(metadata_));
  if (like != nullptr) {
    if (auto made = view({variable, *like, selected.halo, selected.wrap}, iteration, view_of, views)) {
      made->absent = {made->array.box};
      for (const Box& box : from_owners(*made)) made->absent = difference(made->absent, box);
      for (const Box& box : made->absent) erase_box(made->array, box);
      result.views.push_back(std::move(*made));
    }
  }
  views.pieces.push_back(std::move(result));
}

void DerivedStage::derive(std::span<const Selected> derived, const Iteration& iteration, const BlockTable& table,
                          Views& views) {
  for (const Selected& one : derived) {
    const Variable& variable = variable_of(metadata_, one.variable);
    if (!one.decomposition.is_published()) {
      if (find_pieces(views, one, one.variable) == nullptr) derive_piece(one, iteration, views);
    } else if (views.blocks[static_cast<std::size_t>(one.variable)].empty()) {
      derive_blocks(variable, derived, iteration, table, views);
    }
  }
  deposits_.clear();
}

}  // namespace sidestream
