#include "server/engine/held_iteration.hpp"

#include "base/mpi/agree.hpp"
#include "data/region_ranges.hpp"
#include "sidestream/data/range.hpp"

namespace sidestream {

HeldIteration::HeldIteration(const std::vector<std::int32_t>& variables, const Metadata& metadata)
    : ServerTransport({0, true}), kept_(metadata.variables.size(), false) {
  for (const std::int32_t id : variables) kept_[static_cast<std::size_t>(id)] = true;
  for (const Variable& variable : metadata.variables) orders_.push_back(variable.order);
}

void HeldIteration::clear() noexcept {
  is_held_ = false;
  inbox_.blocks.clear();
  tables_.persistent.clear();
}

void HeldIteration::drop() noexcept {
  clear();
  copies_.clear();
}

/// Frees copies of blocks that no longer exist, before others are made.
void HeldIteration::free_unused(const ServerState& state) {
  for (auto& [key, copy] : copies_) copy.in_use = false;
  for (const auto* const some : {&state.inbox.blocks, &std::as_const(state.tables.persistent)}) {
    for (const Arrival& arrival : *some) {
      const auto found = copies_.find({arrival.record.variable, arrival.record.block.id});
      if (found != copies_.end()) found->second.in_use = true;
    }
  }
  std::erase_if(copies_, [](const auto& one) { return !one.second.in_use; });
}

/// Copies arrays that are in place. For others it keeps the records, with the values of an earlier copy if there is
/// one.
void HeldIteration::keep_each(const std::vector<Arrival>& arrivals, std::vector<Arrival>& to) {
  for (const Arrival& arrival : arrivals) {
    if (!keeps(arrival.record.variable)) continue;
    Copy& copy = copies_[{arrival.record.variable, arrival.record.block.id}];
    Arrival& kept = to.emplace_back(arrival);
    const bool is_new =
        arrival.record.persistent == 0 || copy.since != arrival.since || copy.values.size() != arrival.record.bytes;
    if (is_new && arrival.data != nullptr) {
      copy.since = -1;
      copy.values.assign(arrival.data, arrival.data + arrival.record.bytes);
      copy.since = arrival.since;
    }
    kept.data = is_new && arrival.data == nullptr ? nullptr : copy.values.data();
  }
}

/// Fetches values that are not in place: whole arrays with their ghosts.
void HeldIteration::fetch_missing(ServerTransport& transport, std::int64_t index) {
  std::vector<Wanted> wanted;
  std::vector<Arrival*> arrivals;
  for (std::vector<Arrival>* const some : {&inbox_.blocks, &tables_.persistent}) {
    for (Arrival& arrival : *some) {
      if (arrival.data != nullptr || arrival.record.bytes == 0) continue;
      wanted.push_back({arrival.record.block, arrival.record.variable, 0, arrival.record.box});
      arrivals.push_back(&arrival);
    }
  }
  const std::vector<const std::byte*> values = transport.fetch(index, wanted, false);
  for (std::size_t n = 0; n < wanted.size(); ++n) {
    Arrival& arrival = *arrivals[n];
    if (values[n] == nullptr) continue;
    Copy& copy = copies_.at({arrival.record.variable, arrival.record.block.id});
    copy.since = -1;
    copy.values.assign(values[n], values[n] + arrival.record.bytes);
    copy.since = arrival.since;
    arrival.data = copy.values.data();
    arrival.record.order = orders_[static_cast<std::size_t>(arrival.record.variable)];
  }
  // Without values an arrival would count as published.
  const auto is_missing = [](const Arrival& one) { return one.data == nullptr && one.record.bytes > 0; };
  std::erase_if(inbox_.blocks, is_missing);
  std::erase_if(tables_.persistent, is_missing);
}

void HeldIteration::keep(ServerTransport& transport, const Agreement& agreement, Communicator& servers) {
  clear();
  run_collectively(servers, [&] {
    const ServerState state = transport.state(agreement.at.index);
    free_unused(state);
    keep_each(state.inbox.blocks, inbox_.blocks);
    keep_each(state.tables.persistent, tables_.persistent);
    agreement_ = agreement;
  });
  if (!transport.traits().values_in_place) {
    run_collectively(servers, [&] { fetch_missing(transport, agreement.at.index); });
  }
  is_held_ = true;
}

MeasuredRanges HeldIteration::ranges(std::int64_t, std::span<const RangeRequest> requests,
                                     std::span<const RangeRegion> regions) {
  MeasuredRanges found;
  std::map<std::pair<std::int32_t, std::int64_t>, ArrayView> arrays;
  for (const std::vector<Arrival>* const some : {&inbox_.blocks, &tables_.persistent}) {
    for (const Arrival& arrival : *some) {
      if (arrival.data == nullptr || arrival.record.block.empty()) continue;
      if (!regions.empty()) {
        arrays[{arrival.record.variable, arrival.record.block.id}] = arrival.record.view(arrival.data);
      }
      for (const RangeRequest& request : requests) {
        if (request.variable != arrival.record.variable) continue;
        BlockRange& range = found.blocks.emplace_back();
        range.block = arrival.record.block.id;
        range.variable = request.variable;
        measure_range(arrival.record.view(arrival.data), arrival.record.points(), request.component, range);
      }
    }
  }
  found.regions = measure_regions(regions, [&](std::int32_t variable, std::int64_t block) {
    return arrays[{variable, block}];
  });
  return found;
}

}  // namespace sidestream
