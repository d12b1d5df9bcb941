// Sorting of received messages by iteration. A client's current iteration is the number of its `end` records.
//
// 1. `take` files declarations, signals and ends under the sender's current iteration; `add` files a block's record.
//    New persistent arrays and declarations are set aside until their iteration's turn.
// 2. `end` merges the end records of all clients: events and refusals are united; the first client's cycle and time
//    stay, and a difference is noted.
// 3. `advance` applies what was set aside up to an iteration: first declarations, then persistent arrays. It takes them
//    one by one, so a call that ran out of memory may be repeated.
//
// Nothing here communicates. The servers compare and agree afterwards (server/engine).
#include "transport/inbox_store.hpp"

#include <algorithm>
#include <bit>

#include "data/region_ranges.hpp"

namespace sidestream {

bool InboxStore::take(int client, const Message& message) {
  switch (message.kind) {
    case MessageKind::block:
      return false;
    case MessageKind::declare:
      declare(client, message.block.block, false);
      break;
    case MessageKind::remove:
      declare(client, message.block.block, true);
      break;
    case MessageKind::end:
      end(client, message.end);
      break;
    case MessageKind::close:
      close(client);
      break;
    case MessageKind::abandon:
      abandoned_ = true;
      break;
    case MessageKind::signal:
      signal(client, message.signal);
      break;
    case MessageKind::notice:  // clients never send notices
      break;
  }
  return true;
}

void InboxStore::add(int client, const Arrival& arrival) {
  const std::int64_t iteration = current(client);
  const Arrival dated{arrival.record, arrival.data, iteration};
  if (arrival.record.persistent) {
    new_persistent_.emplace(iteration, dated);
  } else {
    inboxes_[iteration].blocks.push_back(dated);
  }
}

void InboxStore::declare(int client, const Block& block, bool removed) {
  declarations_.emplace(current(client), Declaration{current(client), block, removed});
}

namespace {

/// Merges one more client's end record into `all`.
void merge(EndRecord& all, const EndRecord& one) {
  all.mismatch |= one.mismatch | static_cast<std::uint32_t>(all.iteration.cycle != one.iteration.cycle);
  const bool first = one.client < all.client;
  // Compares bit patterns, so that a time of NaN agrees with itself.
  if (std::bit_cast<std::uint64_t>(all.iteration.time) != std::bit_cast<std::uint64_t>(one.iteration.time)) {
    all.other = first ? all.client : one.client;
    all.other_time = first ? all.iteration.time : one.iteration.time;
  } else if (all.other < 0) {
    all.other = one.other;
    all.other_time = one.other_time;
  }
  if (first) {
    all.iteration = one.iteration;
    all.client = one.client;
  }
  all.events |= one.events;
  all.absent += one.absent;
  all.refused |= one.refused;
  all.ending |= one.ending;
  const bool lower = one.refusing >= 0 && (all.refusing < 0 || one.refusing < all.refusing);
  if (lower) all.refusing = one.refusing;
}

}  // namespace

void InboxStore::end(int client, const EndRecord& record) {
  std::int64_t& iteration = ended_[static_cast<std::size_t>(client)];
  Inbox& inbox = inboxes_[iteration];  // may throw: then nothing has changed
  ++iteration;
  if (inbox.ended++ == 0) {
    inbox.end = record;
  } else {
    merge(inbox.end, record);
  }
}

int InboxStore::ended(std::int64_t index) const noexcept {
  return static_cast<int>(std::count_if(ended_.begin(), ended_.end(), [&](std::int64_t n) { return n > index; }));
}

int InboxStore::pending(std::int64_t index) const noexcept {
  int count = 0;
  for (std::size_t c = 0; c < ended_.size(); ++c) count += ended_[c] <= index && !closed_[c];
  return count;
}

ServerState InboxStore::state(std::int64_t index) noexcept {
  static const Inbox nothing;
  const auto found = inboxes_.find(index);
  return {found == inboxes_.end() ? nothing : found->second, tables_, ended(index), pending(index), abandoned_, false};
}

void InboxStore::apply(const Declaration& declaration) {
  const Block& block = declaration.block;
  // A block may move to another client, whose declaration may come before the removal by the old one. So declarations
  // are kept per client, and the block table reports blocks that two clients declare.
  const std::tuple key(block.mesh, block.id, block.client);
  const auto found = places_.find(key);
  if (declaration.removed && found == places_.end()) return;
  tables_.changes.push_back({block, declaration.removed, 0});
  // Keeps arrays that fit the block as it is now; it may have moved in space.
  std::erase_if(tables_.persistent, [&](Arrival& arrival) {
    Block& of = arrival.record.block;
    if (of.mesh != block.mesh || of.id != block.id || of.client != block.client) return false;
    if (declaration.removed || !of.same_shape(block)) return true;
    of = block;
    return false;
  });
  if (!declaration.removed) {
    const auto place = places_.try_emplace(key, tables_.blocks.size()).first->second;
    if (place == tables_.blocks.size()) {
      tables_.blocks.push_back(block);
    } else {
      tables_.blocks[place] = block;
    }
    return;
  }
  const std::size_t place = found->second;
  tables_.blocks[place] = tables_.blocks.back();
  places_[{tables_.blocks[place].mesh, tables_.blocks[place].id, tables_.blocks[place].client}] = place;
  tables_.blocks.pop_back();
  places_.erase(key);
}

void InboxStore::replace(const Arrival& arrival) {
  const auto same = [&](const Arrival& old) {
    return old.record.variable == arrival.record.variable && old.record.block.id == arrival.record.block.id &&
           old.record.block.client == arrival.record.block.client;
  };
  const auto found = std::find_if(tables_.persistent.begin(), tables_.persistent.end(), same);
  if (found != tables_.persistent.end()) {
    *found = arrival;
  } else {
    tables_.persistent.push_back(arrival);
  }
}

MeasuredRanges InboxStore::ranges(std::int64_t index, std::span<const RangeRequest> requests,
                                  std::span<const RangeRegion> regions, const DataOf& data_of) {
  MeasuredRanges result;
  std::map<std::pair<std::int32_t, std::int64_t>, ArrayView> arrays;  // arrays that regions refer to
  for (const RangeRegion& region : regions) {
    for (const std::int32_t variable : {region.variable, region.refined, region.owned}) {
      if (variable >= 0) arrays[{variable, region.block}];
    }
  }
  const auto measure = [&](const Arrival& arrival) {
    if (arrival.record.block.empty()) return;
    const auto used = arrays.find({arrival.record.variable, arrival.record.block.id});
    const bool asked = std::any_of(requests.begin(), requests.end(),
                                   [&](const RangeRequest& one) { return one.variable == arrival.record.variable; });
    if (used == arrays.end() && !asked) return;
    const std::byte* data = data_of ? data_of(arrival.record) : arrival.data;
    if (!data) return;
    if (used != arrays.end()) used->second = arrival.record.view(data);
    for (const RangeRequest& request : requests) {
      if (request.variable != arrival.record.variable) continue;
      BlockRange& range = result.blocks.emplace_back();
      range.block = arrival.record.block.id;
      range.variable = request.variable;
      measure_range(arrival.record.view(data), arrival.record.points(), request.component, range);
    }
  };
  for (const Arrival& arrival : inboxes_[index].blocks) measure(arrival);
  for (const Arrival& arrival : tables_.persistent) measure(arrival);
  result.regions = measure_regions(regions, [&](std::int32_t variable, std::int64_t block) {
    return arrays.at({variable, block});
  });
  return result;
}

/// Applies changes one by one: if memory runs out, the next call continues.
void InboxStore::advance(std::int64_t index) {
  while (!declarations_.empty() && declarations_.begin()->first <= index) {
    apply(declarations_.begin()->second);
    declarations_.erase(declarations_.begin());
  }
  while (!new_persistent_.empty() && new_persistent_.begin()->first <= index) {
    replace(new_persistent_.begin()->second);
    new_persistent_.erase(new_persistent_.begin());
  }
}

}  // namespace sidestream
