// Assembling: from the arrivals of an iteration to views for the analyses that are due.
//
// 1. Ranges: servers exchange the value ranges on which selections depend, and decide which blocks are needed.
// 2. Plan: the exchange for this demand, cached while blocks, allocated boxes and demand stay the same.
// 3. Values: fetched from clients, or, where values are in place, exchanged between servers.
// 4. Views: built from the values, or those of the previous iteration with new pointers.
// 5. Marks: cells covered by finer levels, ghosts flagged by the simulation, leaves of trees, points shared by blocks.
// 6. Derived variables, computed from the views of their inputs.
#include "server/engine/assembler.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/mpi/agree.hpp"
#include "server/redistribution/block_table.hpp"
#include "server/redistribution/exchange_plan.hpp"
#include "server/redistribution/shared_points.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/data/octree.hpp"

namespace sidestream {

void Assembler::update(ServerTables& tables) {
  std::vector<BlockChange> mine = std::exchange(tables.changes, {});
  if (!trusted_) {
    mine.clear();
    for (const Block& block : tables.blocks) mine.push_back({block, 0, 0});
    table_ = BlockTable();
    allocated_.clear();
  }
  std::vector<std::vector<BlockChange>> changes;
  for (const Bytes& bytes : servers_.all_gather(std::as_bytes(std::span(mine)))) {
    changes.push_back(records_of<BlockChange>(bytes));
  }
  table_.apply(changes);
  allocated_.keep(table_);
  trusted_ = true;
  catalogue_.reset();
  forget_plans();
  static_cast<void>(table_.covered_in_part(metadata_));  // called here, where it may fail
}

/// Drops everything that depends on the set of blocks.
void Assembler::forget_plans() {
  last_.reset();
  viewed_.reset();
  owned_.clear();
  covered_.clear();
  plans_.clear();
}

void Assembler::settle_absent(const AbsentBlocks::Has& has) {
  if (absent_.settle(table_, has)) forget_plans();
}

/// Updates the boxes that arrays cover; a change rebuilds the plans. Collective. Only needed where a view reads beyond
/// its block's points.
void Assembler::update_allocated(ServerTransport& transport, std::int64_t index,
                                 const std::vector<Selected>& selection) {
  std::vector<bool> variables(metadata_.variables.size(), false);
  bool any = false;
  for (const Selected& selected : selection) {
    const auto v = static_cast<std::size_t>(selected.variable);
    const bool beyond = (selected.ghosts && fetches_) || (selected.halo > 0 && metadata_.variables[v].filled);
    if (!beyond || !selected.decomposition.is_published()) continue;
    variables[v] = any = true;
  }
  if (!any) return;
  const ServerState state = transport.state(index);
  if (!allocated_.update(state.inbox.blocks, state.tables.persistent, variables, servers_)) return;
  last_.reset();
  plans_.clear();
}

/// Warns if blocks overlap, since cells in two blocks count twice. A missing block overlaps nothing until it arrives.
void Assembler::warn_of_overlap() {
  if (warned_ || servers_.rank() != 0) return;
  bool ignores = false;
  const auto found = table_.overlap(overlap_open_, [&, absent = absent_.blocks()](const Block& block) {
    const bool is_absent = absent.contains({block.mesh, block.id});
    ignores = ignores || is_absent;
    return is_absent;
  });
  overlap_open_ = ignores;
  if (!found) return;
  warned_ = true;
  const auto& [a, b] = *found;
  log::warning(
      "blocks {} (client {}) and {} (client {}) of the mesh '{}' have cells of level {} in common, which count twice; "
      "give each cell to one block and allocate ghosts around it (set_allocated)",
      a.id, a.client, b.id, b.client, metadata_.meshes[static_cast<std::size_t>(a.mesh)].name, a.level);
}

const std::vector<Box>& Assembler::covered(const Variable& variable, const Block& block) {
  const std::size_t set = absent_.set_of(variable.id);
  const std::tuple key(variable.mesh, set, block.level, block.cells.lo, block.cells.hi);
  const auto found = covered_.find(key);
  if (found != covered_.end()) return found->second;
  return covered_.emplace(key, table_of(variable.id).covered(metadata_.mesh_of(variable), block)).first->second;
}

namespace {

/// Finds a block's view among views sorted by id; null if there is none.
const BlockView* find_view(const std::vector<BlockView>& views, std::int64_t block) {
  const auto at = std::lower_bound(views.begin(), views.end(), block,
                                   [](const BlockView& v, std::int64_t id) { return v.block.id < id; });
  return at == views.end() || at->block.id != block ? nullptr : &*at;
}

}  // namespace

/// Marks cells that finer levels cover, and ghosts that the simulation flags. Reused views keep their covered cells.
void Assembler::mark(Views& assembled, bool refreshed) {
  std::vector<std::vector<BlockView>>& blocks = assembled.blocks;
  for (const Variable& variable : metadata_.variables) {
    std::vector<BlockView>& views = blocks[static_cast<std::size_t>(variable.id)];
    const Mesh& mesh = metadata_.mesh_of(variable);
    for (std::size_t v = 0; !refreshed && v < views.size() && !mesh.refinement.empty(); ++v) {
      views[v].covered = covered(variable, views[v].block);
    }
    if (variable.role != Role::point_ghosts && variable.role != Role::cell_ghosts) continue;
    std::vector<ArrayView> arrays;
    for (const BlockView& view : views) arrays.push_back(view.array);
    mark_flagged(variable, arrays, blocks);
  }
  mark_pieces(assembled);
}

/// Marks pieces with their ghost flags, which were moved in the same pieces.
void Assembler::mark_pieces(Views& views) const {
  for (PieceViews& pieces : views.pieces) {
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(pieces.selected.variable)];
    for (const Role role : {Role::point_ghosts, Role::cell_ghosts}) {
      const std::int32_t flags = metadata_.mesh_of(variable).array(role);
      if (flags < 0 || metadata_.variables[static_cast<std::size_t>(flags)].centering != variable.centering) continue;
      const PieceViews* found = find_pieces(views, pieces.selected, flags);
      for (std::size_t v = 0; found && v < pieces.views.size(); ++v) pieces.views[v].ghosts = found->views[v].array;
    }
  }
}

/// Sets the flags, `arrays` of the views of `flags`, in the views of all variables with the same mesh and centring.
void Assembler::mark_flagged(const Variable& flags, std::span<const ArrayView> arrays,
                             std::vector<std::vector<BlockView>>& blocks) {
  const std::vector<BlockView>& flagged = blocks[static_cast<std::size_t>(flags.id)];
  for (const Variable& variable : metadata_.variables) {
    const bool list = variable.role == Role::connectivity || variable.role == Role::faces;
    if (variable.mesh != flags.mesh || variable.centering != flags.centering || list) continue;
    for (BlockView& view : blocks[static_cast<std::size_t>(variable.id)]) {
      const BlockView* at = find_view(flagged, view.block.id);
      if (at != nullptr) view.ghosts = arrays[static_cast<std::size_t>(at - flagged.data())];
    }
  }
}

/// Collective, if there are trees: marks cells so that each leaf counts once.
void Assembler::mark_trees(Assembled& result) {
  const auto is_tree = [](const Mesh& mesh) { return mesh.kind() == MeshKind::octree; };
  if (std::none_of(metadata_.meshes.begin(), metadata_.meshes.end(), is_tree)) return;
  std::vector<std::int64_t> leaves;
  run_collectively(servers_, [&] {
    for (const Mesh& mesh : metadata_.meshes) {
      if (!is_tree(mesh)) continue;
      const std::vector<std::int64_t> some = mark_tree(mesh, result);
      leaves.insert(leaves.end(), some.begin(), some.end());
    }
  });
  if (told_trees_) return;
  servers_.sum(leaves);
  std::span<const std::int64_t> rest(leaves);
  for (const Mesh& mesh : metadata_.meshes) {
    if (!is_tree(mesh)) continue;
    warn_of_owners(mesh, rest.first(most_tree_levels));
    rest = rest.subspan(most_tree_levels);
  }
}

/// Flags the cells that do not count; returns the number of counted leaves on each level.
std::vector<std::int64_t> Assembler::mark_tree(const Mesh& mesh, Assembled& result) {
  std::vector<std::int64_t> leaves(most_tree_levels, 0);
  const std::int32_t owned = mesh.array(Role::owned);
  const auto refined = static_cast<std::size_t>(mesh.array(Role::refined));
  std::vector<ArrayView> arrays;
  for (const BlockView& view : result.views.blocks[refined]) {
    const std::vector<Index> starts = level_starts(mesh, view.block, view.array);
    const BlockView* mine =
        owned < 0 ? nullptr : find_view(result.views.blocks[static_cast<std::size_t>(owned)], view.block.id);
    const auto& flags = result.flags.emplace_back(uncounted_cells(view.array, mine ? mine->array : ArrayView{}));
    ArrayView& array = arrays.emplace_back(view.array);
    array.strides = {1, 0, 0, 0};
    array.data = flags.data();
    if (!view.copy) count_leaves(starts, flags, leaves);
  }
  mark_flagged(metadata_.variables[refined], arrays, result.views.blocks);
  return leaves;
}

/// Warns, once in a run, if leaves are owned by more than one block.
void Assembler::warn_of_owners(const Mesh& mesh, std::span<const std::int64_t> leaves) {
  const double excess = excess_of_leaves(mesh, leaves);
  if (excess == 0 || told_trees_) return;
  told_trees_ = true;
  if (servers_.rank() != 0) return;
  log::warning(
      "the leaves that blocks of the mesh '{}' own have together {:.6g} times its volume: some are in more than one "
      "block, and count in each; {}",
      mesh.name, 1 + excess,
      mesh.array(Role::owned) < 0 ? "name a variable (`owned`) that is 0 where a cell counts in another block"
                                  : "let `owned` be 0 for a leaf in all blocks but one");
}

/// Decides which copy of a shared point counts, where the simulation numbers points and does not flag them.
void Assembler::mark_shared(const Demand& demand, Assembled& result) {
  if (!demand.counts) return;
  for (const Variable& variable : metadata_.variables) {
    const Mesh& mesh = metadata_.mesh_of(variable);
    const bool points = variable.role == Role::point_ids && mesh.array(Role::point_ghosts) < 0;
    const bool cells = variable.role == Role::cell_ids && mesh.array(Role::cell_ghosts) < 0;
    const bool wanted = std::any_of(demand.selection.begin(), demand.selection.end(),
                                    [&](const Selected& s) { return s.variable == variable.id; });
    if (!mesh.is_list() || !wanted || !(points || cells)) continue;
    const std::vector<BlockView>& views = result.views.blocks[static_cast<std::size_t>(variable.id)];
    std::vector<ArrayView> arrays;
    for (std::vector<std::uint8_t>& flags : flag_shared(views, servers_)) {
      ArrayView array;
      array.type = Type::uint8;
      array.box = list_box(static_cast<Index>(flags.size()));
      array.data = result.flags.emplace_back(std::move(flags)).data();
      arrays.push_back(array);
    }
    mark_flagged(variable, arrays, result.views.blocks);
  }
}

const std::vector<Box>& Assembler::owned(const Variable& variable, const Block& block) {
  // Lists of some roles have lengths of their own.
  const std::int32_t kind = static_cast<std::int32_t>(variable.centering) * role_count +
                            (block.is_list() ? static_cast<std::int32_t>(variable.role) : 0);
  const std::size_t set = absent_.set_of(variable.id);
  const std::tuple key(variable.mesh * centering_count * role_count + kind, set, block.id);
  const auto found = owned_.find(key);
  if (found != owned_.end()) return found->second;
  return owned_.emplace(key, table_of(variable.id).owned(variable, block)).first->second;
}

/// Collective: gathers the ranges in `mine` that `requests` ask for, from all servers.
std::vector<BlockRange> Assembler::gather_ranges(const std::vector<BlockRange>& mine,
                                                 const std::vector<RangeRequest>& requests) {
  if (requests.empty()) return {};
  std::vector<BlockRange> some, all;
  std::copy_if(mine.begin(), mine.end(), std::back_inserter(some), [&](const BlockRange& range) {
    return std::find(requests.begin(), requests.end(), RangeRequest{range.variable, range.component}) != requests.end();
  });
  for (const Bytes& bytes : servers_.all_gather(std::as_bytes(std::span(some)))) {
    const std::vector<BlockRange> others = records_of<BlockRange>(bytes);
    all.insert(all.end(), others.begin(), others.end());
  }
  return all;
}

/// Copies the blocks only if they have changed, or if the catalogue of an earlier iteration is still in use.
std::shared_ptr<const Catalogue> Assembler::catalogue(std::vector<BlockRange> ranges) {
  if (!catalogue_ || catalogue_.use_count() > 1) {
    catalogue_ = std::make_shared<Catalogue>(Catalogue{true, table_.blocks(), {}});
  }
  catalogue_->ranges = std::move(ranges);
  return catalogue_;
}

/// Blocks that finer ones cover completely, by position; empty if there are none. Blocks that are missing for any
/// demanded variable do not cover, since analyses look at several variables together.
std::vector<bool> Assembler::left_out(const Demand& demand) const {
  std::vector<bool> covered = table_.wholly_covered(metadata_);
  if (covered.empty()) return covered;
  std::set<std::size_t> sets;
  for (const Selected& selected : demand.selection) sets.insert(absent_.set_of(selected.variable));
  for (const Selected& selected : demand.derived) sets.insert(absent_.set_of(selected.variable));
  for (const std::size_t set : sets) {
    if (set != 0) absent_.uncover(set, covered);
  }
  return covered;
}

/// Marks derived views anew: they are like those of one input, which may exist on finer blocks where another one does
/// not.
void Assembler::mark_derived(const Demand& demand) {
  for (const Selected& one : demand.derived) {
    if (absent_.set_of(one.variable) == 0) continue;
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(one.variable)];
    if (metadata_.mesh_of(variable).refinement.empty()) continue;
    for (BlockView& view : assembled_.views.blocks[static_cast<std::size_t>(one.variable)]) {
      view.covered = covered(variable, view.block);
    }
  }
}

/// Returns the plan of a demand. Collective if it is new.
std::shared_ptr<const Assembler::CachedPlan> Assembler::plan_for(const Demand& demand, const Decisions& decided,
                                                                 bool values_in_place) {
  const bool keeps = values_in_place || (planner_.ranges_for(demand.selection).empty() && !planner_.wants_cost());
  for (const auto& known : plans_) {
    if (keeps && known->tasks == demand.tasks) return known;
  }
  const auto made = std::make_shared<CachedPlan>();
  const ExchangePlan::Place place{servers_.rank(), servers_.size(), values_in_place};
  // A partitioner may refuse, or memory may be short: this must happen before anything is requested.
  run_collectively(servers_, [&] {
    made->tasks = demand.tasks;
    auto assignment = values_in_place ? planner_.keep(table_, demand.selection, place.server)
                                      : planner_.plan(table_, demand.selection, decided, left_out(demand), costs_,
                                                      place.servers, place.server);
    made->exchange.emplace(
        metadata_, table_, std::move(assignment), place,
        [this](const Variable& v, const Block& b) -> const std::vector<Box>& { return owned(v, b); },
        [this](const Variable& v, const Block& b) { return allocated_.of(v, b); });
  });
  if (values_in_place) {
    made->local.emplace(metadata_, made->exchange->wanted(), made->exchange->holders(), servers_);
  }
  // Kept by all servers or by none, since creating a plan is collective.
  std::list<std::shared_ptr<const CachedPlan>> kept;
  run_collectively(servers_, [&] {
    if (keeps) kept.push_front(made);
  });
  plans_.splice(plans_.begin(), kept);
  constexpr std::size_t most_plans = 16;
  if (plans_.size() > most_plans) plans_.pop_back();
  return made;
}

/// `again`: tells the transport to expect the same request in later iterations.
std::vector<ArrayView> Assembler::fetch(ServerTransport& transport, std::int64_t index, const CachedPlan& plan,
                                        bool again) {
  const std::vector<Wanted>& wanted = plan.exchange->wanted();
  std::vector<const std::byte*> values;
  run_collectively(servers_, [&] { values = transport.fetch(index, wanted, again); });
  std::vector<ArrayView> arrays(wanted.size());
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    const Variable& variable = metadata_.variables[static_cast<std::size_t>(wanted[n].variable)];
    arrays[n].data = values[n];
    arrays[n].type = variable.type;
    arrays[n].box = wanted[n].points;
    arrays[n].components = variable.components;
    arrays[n].strides = packed_strides(wanted[n].points, variable.components, variable.order);
  }
  return arrays;
}

void Assembler::note_cost(double seconds) {
  if (!planner_.wants_cost()) return;
  struct Cost {
    std::int64_t id;
    double seconds;
    std::int32_t mesh, reserved;
  };
  std::vector<Cost> mine;
  double total = 0;
  const auto& pieces = last_ ? last_->exchange->assignment().pieces : std::vector<BlockAssignment::Piece>();
  for (const BlockAssignment::Piece& piece : pieces) {
    const Block& block = table_.blocks()[static_cast<std::size_t>(piece.block)];
    const auto cells = static_cast<double>(piece.cells.count());
    mine.push_back({block.id, cells, block.mesh, 0});
    total += cells;
  }
  for (Cost& cost : mine) cost.seconds *= seconds / total;
  for (const Bytes& bytes : servers_.all_gather(std::as_bytes(std::span(mine)))) {
    for (const Cost& cost : records_of<Cost>(bytes)) costs_[{cost.mesh, cost.id}] = cost.seconds;
  }
}

std::vector<ArrayView> Assembler::get_values(ServerTransport& transport, std::int64_t index, const Demand& demand,
                                             const std::shared_ptr<const CachedPlan>& plan) {
  if (transport.traits().values_in_place) {
    const ServerState state = transport.state(index);
    LocalValues::Got got = plan->local->get(state.inbox.blocks, state.tables.persistent, servers_);
    assembled_.messages = std::move(got.messages);
    return std::move(got.values);
  }
  // A standing order moves values of refused iterations in vain, so it waits until the same is demanded a second time.
  const bool again = demand.repeats && plan == last_ && plan != ordered_;
  std::vector<ArrayView> values = fetch(transport, index, *plan, again);
  if (again) ordered_ = plan;
  return values;
}

/// True if the views of the previous iteration could be reused; if so, they now have the new values. Creating views
/// costs an allocation and half a kilobyte each, which is most of the cost of many small blocks.
bool Assembler::refresh(const std::shared_ptr<const CachedPlan>& plan, std::span<const ArrayView> values) {
  const bool same = viewed_ == plan;
  viewed_.reset();
  return same && plan->exchange->refresh(assembled_.views, values);
}

const Assembled& Assembler::assemble_once(ServerTransport& transport, std::int64_t index, const Demand& demand) {
  const std::shared_ptr<const CachedPlan> before = last_;
  const Assembled& assembled = assemble(transport, index, demand);
  if (!plans_.empty() && plans_.front() == last_) plans_.pop_front();
  last_ = before;
  return assembled;
}

const Assembled& Assembler::assemble(ServerTransport& transport, std::int64_t index, const Demand& demand) {
  end();
  fetches_ = fetches_ || !transport.traits().values_in_place;
  std::vector<Selected> parts;
  if (!transport.traits().values_in_place) parts = planner_.ranged_parts(demand.selection);
  std::vector<RangeRequest> requests = demand.ranges;
  for (const Selected& part : parts) {
    const bool known = std::find(requests.begin(), requests.end(), range_of(part)) != requests.end();
    if (!known) requests.push_back(range_of(part));
  }
  std::vector<BlockRange> mine;
  if (!requests.empty()) run_collectively(servers_, [&] { mine = transport.ranges(index, requests); });
  std::vector<BlockRange> ranges = gather_ranges(mine, demand.ranges);
  const Decisions decided = decide_by_ranges(metadata_, table_, parts, mine, servers_);
  update_allocated(transport, index, demand.selection);
  const std::shared_ptr<const CachedPlan> current = plan_for(demand, decided, transport.traits().values_in_place);
  const std::vector<ArrayView> values = get_values(transport, index, demand, current);
  last_ = current;
  const bool refreshed = refresh(current, values);
  if (!refreshed) assembled_.views = current->exchange->views(values);
  const ExchangePlan::Amount amount = current->exchange->count(values);
  assembled_.moved_blocks = amount.blocks;
  assembled_.moved_bytes = amount.pieces;
  assembled_.moved_layers = amount.layers;
  mark(assembled_.views, refreshed);
  mark_trees(assembled_);
  mark_shared(demand, assembled_);
  if (!demand.derived.empty()) {
    derived_.deposit(demand.derived, table_, assembled_.views, servers_);
    run_collectively(servers_, [&] {
      derived_.derive(demand.derived, demand.iteration, table_, assembled_.views);
      mark_derived(demand);
    });
  }
  if (demand.catalogue) assembled_.catalogue = catalogue(std::move(ranges));
  viewed_ = current;
  return assembled_;
}

void Assembler::end() noexcept {
  assembled_.messages.clear();
  assembled_.flags.clear();
  assembled_.catalogue.reset();
  assembled_.views.pieces.clear();
  assembled_.views.memory.clear();
  for (const Variable& variable : metadata_.variables) {
    const auto v = static_cast<std::size_t>(variable.id);
    if (variable.derived() && v < assembled_.views.blocks.size()) assembled_.views.blocks[v].clear();
  }
}

}  // namespace sidestream
