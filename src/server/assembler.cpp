#include "server/assembler.hpp"

#include <algorithm>
#include <cstring>

#include "base/agree.hpp"
#include "server/gathering.hpp"
#include "server/halo.hpp"

namespace sidestream {

namespace {

template <class T>
std::vector<T> records(const Bytes& bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(static_cast<void*>(result.data()), bytes.data(), result.size() * sizeof(T));
  return result;
}

}  // namespace

void Assembler::apply_changes(ServerTransport& transport) {
  const std::vector<BlockChange> mine = transport.take_changes();
  std::vector<std::vector<BlockChange>> changes;
  for (const Bytes& bytes : servers_.all_gather(std::as_bytes(std::span(mine)))) {
    changes.push_back(records<BlockChange>(bytes));
  }
  table_.apply(changes);
  last_.reset();
  owned_.clear();
  plans_.clear();
}

const std::vector<Box>& Assembler::owned(const Variable& variable, const Block& block) {
  const std::pair key(variable.mesh * 2 + static_cast<std::int32_t>(variable.centering), block.id);
  const auto found = owned_.find(key);
  if (found != owned_.end()) return found->second;
  return owned_.emplace(key, table_.owned(variable, block)).first->second;
}

std::vector<BlockRange> Assembler::gather_ranges(ServerTransport& transport, std::int64_t index,
                                                 const std::vector<RangeRequest>& requests) {
  if (requests.empty()) return {};
  std::vector<BlockRange> mine;
  together(servers_, [&] { mine = transport.ranges(index, requests); });
  std::vector<BlockRange> all;
  for (const Bytes& bytes : servers_.all_gather(std::as_bytes(std::span(mine)))) {
    const std::vector<BlockRange> some = records<BlockRange>(bytes);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

namespace {

BlockView make_view(const Variable& variable, const Arrival& arrival) {
  BlockView view;
  view.block = arrival.record.block;
  view.points = variable.points(arrival.record.block.cells);
  view.array = arrival.record.view(arrival.data);
  return view;
}

/// Whether a part can be decided without values. Where nothing moves, others are not worth the ranges.
bool is_geometric(const Part& part) { return part.kind != Part::Kind::values && part.kind != Part::Kind::predicate; }

}  // namespace

void Assembler::take_at_hand(ServerTransport& transport, std::int64_t index, const Demand& demand, Assembled& result) {
  std::vector<HaloRequest> requests(metadata_.variables.size(), HaloRequest{nullptr, 0, nullptr, {}});
  const Needs needs(metadata_, table_.blocks(), {});
  for (const Selected& s : demand.selection) {
    HaloRequest& request = requests[static_cast<std::size_t>(s.variable)];
    request.variable = &metadata_.variables[static_cast<std::size_t>(s.variable)];
    request.views = &result.blocks[static_cast<std::size_t>(s.variable)];
    if (s.halo == 0) continue;
    const std::vector<bool> needed = needs.of(is_geometric(s.part) ? s : Selected(s.variable));
    request.needed.resize(needed.size(), false);
    for (std::size_t b = 0; b < needed.size(); ++b) request.needed[b] = request.needed[b] || needed[b];
    request.width = std::max(request.width, s.halo);
  }
  const auto add = [&](const Arrival& arrival) {
    const HaloRequest& request = requests[static_cast<std::size_t>(arrival.record.variable)];
    if (!request.variable) return;
    BlockView view = make_view(*request.variable, arrival);
    view.owned = owned(*request.variable, view.block);
    request.views->push_back(std::move(view));
  };
  for (const Arrival& arrival : transport.inbox(index).blocks) add(arrival);
  for (const Arrival& arrival : transport.persistent()) add(arrival);
  for (auto& views : result.blocks) {
    std::sort(views.begin(), views.end(), [](const auto& a, const auto& b) { return a.block.id < b.block.id; });
  }
  std::erase_if(requests, [](const HaloRequest& request) { return request.width == 0; });
  if (!requests.empty()) result.halo_memory = exchange_halos(table_, requests, servers_);
  for (const Bytes& message : result.halo_memory) result.moved_layers += message.size();
}

std::shared_ptr<const Movement> Assembler::plan(const Demand& demand, const std::vector<BlockRange>& ranges) {
  const bool keeps = planner_.ranges_for(demand.selection).empty() && !planner_.wants_cost();
  for (const auto& [tasks, movement] : plans_) {
    if (keeps && tasks == demand.tasks) return movement;
  }
  auto movement = planner_.plan(table_, demand.selection, ranges, costs_, servers_.size(), servers_.rank());
  constexpr std::size_t most_plans = 16;
  if (keeps) plans_.emplace_front(demand.tasks, movement);
  if (plans_.size() > most_plans) plans_.pop_back();
  return movement;
}

void Assembler::fetch(ServerTransport& transport, std::int64_t index, const Demand& demand,
                      const std::vector<BlockRange>& ranges, Assembled& result) {
  std::shared_ptr<const Movement> movement;
  std::optional<Gathering> gathering;
  // Before anything is asked for: a partitioner may refuse, memory may be short.
  together(servers_, [&] {
    movement = plan(demand, ranges);
    gathering.emplace(metadata_, table_, *movement,
                      [this](const Variable& v, const Block& b) -> const std::vector<Box>& { return owned(v, b); });
  });
  std::vector<const std::byte*> values;
  together(servers_, [&] { values = transport.fetch(index, gathering->wanted()); });
  together(servers_, [&] { result.blocks = gathering->views(values); });
  last_ = movement;
  const Gathering::Bytes bytes = gathering->count(values);
  result.moved_blocks = bytes.blocks;
  result.moved_bytes = bytes.pieces;
  result.moved_layers = bytes.layers;
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
  for (std::size_t p = 0; last_ && p < last_->pieces.size(); ++p) {
    const Movement::Piece& piece = last_->pieces[p];
    const Block& block = table_.blocks()[static_cast<std::size_t>(piece.block)];
    const auto cells = static_cast<double>(piece.cells.count());
    mine.push_back({block.id, cells, block.mesh, 0});
    total += cells;
  }
  for (Cost& cost : mine) cost.seconds *= seconds / total;
  for (const Bytes& bytes : servers_.all_gather(std::as_bytes(std::span(mine)))) {
    for (const Cost& cost : records<Cost>(bytes)) costs_[{cost.mesh, cost.id}] = cost.seconds;
  }
}

Assembled Assembler::assemble(ServerTransport& transport, std::int64_t index, const Demand& demand, bool changed) {
  if (changed) apply_changes(transport);
  Assembled result;
  result.blocks.resize(metadata_.variables.size());
  std::vector<RangeRequest> requests = demand.ranges;
  if (!transport.at_hand()) {
    for (const RangeRequest& request : planner_.ranges_for(demand.selection)) {
      if (std::find(requests.begin(), requests.end(), request) == requests.end()) requests.push_back(request);
    }
  }
  std::vector<BlockRange> ranges = gather_ranges(transport, index, requests);
  if (transport.at_hand()) {
    take_at_hand(transport, index, demand, result);
  } else {
    fetch(transport, index, demand, ranges, result);
  }
  if (demand.catalogue) result.catalogue = Catalogue{true, table_.blocks(), std::move(ranges)};
  return result;
}

}  // namespace sidestream
