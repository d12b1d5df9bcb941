// Assembling: from the arrivals of an iteration to views for the analyses that are due.
//
// 1. Ranges: servers exchange the value ranges on which selections depend, and decide which blocks are needed.
// 2. Plan: the exchange for this demand, cached while blocks, allocated boxes and demand stay the same.
// 3. Values: fetched from clients, or, where values are in place, exchanged between servers.
// 4. Views: built from the values, or those of the previous iteration with new pointers.
// 5. Marks: cells covered by finer levels, ghosts flagged by the simulation, leaves of trees, points shared by blocks
//    (assembler_marks.cpp).
// 6. Derived variables, computed from the views of their inputs.
// 7. Completion: copies of blocks that lack upper nodes get them from their halo (Mesh::owned_points).
#include "server/engine/assembler.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/mpi/agree.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"

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
  regions_.reset();
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
    const bool around = selected.halo > 0 || is_completed(selected);
    const bool beyond = (selected.ghosts && fetches_) || (around && metadata_.variables[v].filled);
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

const std::vector<Box>& Assembler::owned(const Variable& variable, const Block& block) {
  // Lists of some roles differ in length.
  const std::int32_t kind = static_cast<std::int32_t>(variable.centering) * role_count +
                            (block.is_list() ? static_cast<std::int32_t>(variable.role) : 0);
  const std::size_t set = absent_.set_of(variable.id);
  const std::tuple key(variable.mesh * centering_count * role_count + kind, set, block.id);
  const auto found = owned_.find(key);
  if (found != owned_.end()) return found->second;
  return owned_.emplace(key, table_of(variable.id).owned(variable, block)).first->second;
}

/// Measures the ranges of this server's blocks that `parts` and the catalogue need. Collective. If cells that count
/// matter, measures their ranges too; those of cells next to other blocks only where a surface may lie in between.
Assembler::Ranges Assembler::measure(ServerTransport& transport, std::int64_t index, const Demand& demand,
                                     const std::vector<Selected>& parts) {
  std::vector<RangeRequest> requests = demand.ranges;
  std::vector<RangeRegions::Request> counted;
  const auto count = [&](const RangeRequest& request, bool rims) {
    const auto known = std::find_if(counted.begin(), counted.end(), [&](const auto& one) { return one.of == request; });
    if (known == counted.end()) {
      counted.push_back({request, rims});
    } else {
      known->rims = known->rims || rims;
    }
  };
  for (const RangeRequest& request : demand.ranges) count(request, true);
  for (const Selected& part : parts) {
    const RangeRequest request = range_of(part);
    if (std::find(requests.begin(), requests.end(), request) == requests.end()) requests.push_back(request);
    if (!part.covered) count(request, part.part.kind == Part::Kind::values);
  }
  Ranges mine;
  if (requests.empty()) return mine;
  run_collectively(servers_, [&] {
    const std::vector<RangeRegion> regions =
        regions_.of(counted, [this](std::int32_t v) { return std::pair(absent_.set_of(v), &table_of(v)); });
    MeasuredRanges measured = transport.ranges(index, requests, regions);
    mine.blocks = std::move(measured.blocks);
    mine.counted = counted_ranges(regions, measured.regions);
  });
  return mine;
}

namespace {

/// Returns all servers' records for some requests. Collective.
template <class T>
std::vector<T> gather_records(const std::vector<T>& mine, const std::vector<RangeRequest>& requests,
                              Communicator& servers) {
  std::vector<T> some, all;
  std::copy_if(mine.begin(), mine.end(), std::back_inserter(some), [&](const T& range) {
    return std::find(requests.begin(), requests.end(), RangeRequest{range.variable, range.component}) != requests.end();
  });
  for (const Bytes& bytes : servers.all_gather(std::as_bytes(std::span(some)))) {
    const std::vector<T> others = records_of<T>(bytes);
    all.insert(all.end(), others.begin(), others.end());
  }
  return all;
}

}  // namespace

/// Gathers the ranges of `requests` from all servers. Collective.
Assembler::Ranges Assembler::gather_ranges(const Ranges& mine, const std::vector<RangeRequest>& requests) {
  if (requests.empty()) return {};
  const bool levels = std::any_of(requests.begin(), requests.end(), [this](const RangeRequest& request) {
    return meets_other_levels(metadata_.mesh_of(metadata_.variables.at(static_cast<std::size_t>(request.variable))));
  });
  return {gather_records(mine.blocks, requests, servers_),
          levels ? gather_records(mine.counted, requests, servers_) : std::vector<CountedRange>{}};
}

/// Copies the blocks only if they have changed, or if the catalogue of an earlier iteration is still in use.
std::shared_ptr<const Catalogue> Assembler::catalogue(Ranges ranges) {
  if (!catalogue_ || catalogue_.use_count() > 1) {
    catalogue_ = std::make_shared<Catalogue>(Catalogue{true, table_.blocks(), {}});
  }
  catalogue_->ranges = std::move(ranges.blocks);
  catalogue_->counted = std::move(ranges.counted);
  return catalogue_;
}

/// Blocks that finer blocks cover completely, by position; empty if there are none. Blocks that are missing for any
/// demanded variable do not cover, since analyses look at several variables together.
std::vector<bool> Assembler::left_out(const Demand& demand) const {
  std::vector<bool> covered = table_.wholly_covered(metadata_);
  if (covered.empty()) return covered;
  std::set<std::size_t> sets;
  for (const Selected& selected : demand.selection) sets.insert(absent_.set_of(selected.variable));
  for (const Selected& selected : demand.derived) sets.insert(absent_.set_of(selected.variable));
  for (const std::size_t set : sets) {
    if (set != 0) absent_.clear_covered(set, covered);
  }
  return covered;
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
  // All servers keep the plan or none does, since creating a plan is collective.
  std::list<std::shared_ptr<const CachedPlan>> kept;
  run_collectively(servers_, [&] {
    if (keeps) kept.push_front(made);
  });
  plans_.splice(plans_.begin(), kept);
  constexpr std::size_t most_plans = 16;
  if (plans_.size() > most_plans) plans_.pop_back();
  return made;
}

/// `again`: the transport expects the same request in later iterations.
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
    LocalValues::Result result = plan->local->get(state.inbox.blocks, state.tables.persistent, servers_);
    assembled_.messages = std::move(result.messages);
    return std::move(result.values);
  }
  // A standing order moves values of refused iterations in vain, so it is only given when a demand repeats.
  const bool again = demand.repeats && plan == last_ && plan != ordered_;
  std::vector<ArrayView> values = fetch(transport, index, *plan, again);
  if (again) ordered_ = plan;
  return values;
}

/// Puts the new values into the views of the previous iteration. Returns false if these views cannot be reused.
/// Creating views costs an allocation and half a kilobyte each, which is most of the cost of many small blocks.
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
  const Ranges mine = measure(transport, index, demand, parts);
  Ranges ranges = gather_ranges(mine, demand.ranges);
  const Decisions decided = decide_by_ranges(metadata_, table_, parts, {mine.blocks, mine.counted}, servers_);
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
  derive(demand);
  if (demand.catalogue) assembled_.catalogue = catalogue(std::move(ranges));
  viewed_ = current;
  return assembled_;
}

/// Computes derived variables and completes blocks. Collective if the demand needs either.
void Assembler::derive(const Demand& demand) {
  const bool completes = std::any_of(demand.selection.begin(), demand.selection.end(),
                                     [this](const Selected& selected) { return is_completed(selected); });
  if (demand.derived.empty() && !completes) return;
  if (!demand.derived.empty()) derived_.deposit(demand.derived, table_, assembled_.views, servers_);
  run_collectively(servers_, [&] {
    std::vector<Selected> plain;
    std::copy_if(demand.derived.begin(), demand.derived.end(), std::back_inserter(plain),
                 [this](const Selected& selected) { return !is_completed(selected); });
    derived_.derive(plain, demand.iteration, table_, assembled_.views);
    mark_derived(demand);
    if (completes) complete(demand);
  });
}

void Assembler::end() noexcept {
  assembled_.messages.clear();
  assembled_.flags.clear();
  assembled_.completed.reset();
  assembled_.catalogue.reset();
  assembled_.views.pieces.clear();
  assembled_.views.memory.clear();
  for (const Variable& variable : metadata_.variables) {
    const auto v = static_cast<std::size_t>(variable.id);
    if (variable.derived() && v < assembled_.views.blocks.size()) assembled_.views.blocks[v].clear();
  }
}

}  // namespace sidestream
