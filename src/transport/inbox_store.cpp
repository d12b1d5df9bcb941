#include "transport/inbox_store.hpp"

#include <algorithm>
#include <bit>

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
  }
  return true;
}

void InboxStore::add(int client, const Arrival& arrival) {
  const std::int64_t iteration = current(client);
  bytes_ += arrival.record.bytes;
  if (arrival.record.persistent) {
    new_persistent_.emplace(iteration, arrival);
  } else {
    inboxes_[iteration].blocks.push_back(arrival);
  }
}

void InboxStore::declare(int client, const Block& block, bool removed) {
  declarations_.emplace(current(client), Declaration{current(client), block, removed});
}

void InboxStore::end(int client, const EndRecord& record) {
  Inbox& inbox = inboxes_[ended_[static_cast<std::size_t>(client)]++];
  inbox.mismatch |= record.mismatch != 0;
  if (inbox.ended++ == 0) {
    inbox.end = record;
    return;
  }
  // Bit patterns are compared, so that a time of NaN agrees with itself.
  inbox.mismatch |=
      inbox.end.iteration.cycle != record.iteration.cycle ||
      std::bit_cast<std::uint64_t>(inbox.end.iteration.time) != std::bit_cast<std::uint64_t>(record.iteration.time);
  inbox.end.events |= record.events;
  inbox.end.absent += record.absent;
  inbox.end.refused |= record.refused;
}

int InboxStore::ended(std::int64_t index) const noexcept {
  return static_cast<int>(std::count_if(ended_.begin(), ended_.end(), [&](std::int64_t n) { return n > index; }));
}

int InboxStore::pending(std::int64_t index) const noexcept {
  int count = 0;
  for (std::size_t c = 0; c < ended_.size(); ++c) count += ended_[c] <= index && !closed_[c];
  return count;
}

void InboxStore::apply(const Declaration& declaration) {
  const Block& block = declaration.block;
  const std::pair key(block.mesh, block.id);
  const auto found = places_.find(key);
  // A block may move to another client, whose declaration may come before the removal by the old one.
  const bool moved = found != places_.end() && blocks_[found->second].client != block.client;
  if (declaration.removed && (found == places_.end() || moved)) return;
  changes_.push_back({block, declaration.removed, 0});
  std::erase_if(persistent_, [&](const Arrival& arrival) {
    const Block& of = arrival.record.block;
    return of.mesh == block.mesh && of.id == block.id && (declaration.removed || !(of == block));
  });
  if (!declaration.removed) {
    const auto place = places_.try_emplace(key, blocks_.size()).first->second;
    if (place == blocks_.size()) {
      blocks_.push_back(block);
    } else {
      blocks_[place] = block;
    }
    return;
  }
  const std::size_t place = found->second;
  blocks_[place] = blocks_.back();
  places_[{blocks_[place].mesh, blocks_[place].id}] = place;
  blocks_.pop_back();
  places_.erase(key);
}

void InboxStore::replace(const Arrival& arrival) {
  const auto same = [&](const Arrival& old) {
    return old.record.variable == arrival.record.variable && old.record.block.id == arrival.record.block.id;
  };
  const auto found = std::find_if(persistent_.begin(), persistent_.end(), same);
  if (found != persistent_.end()) {
    *found = arrival;
  } else {
    persistent_.push_back(arrival);
  }
}

std::vector<BlockRange> InboxStore::ranges(std::int64_t index, std::span<const RangeRequest> requests,
                                           const DataOf& data_of) {
  std::vector<BlockRange> result;
  const auto measure = [&](const Arrival& arrival) {
    for (const RangeRequest& request : requests) {
      if (request.variable != arrival.record.variable || arrival.record.block.cells.empty()) continue;
      const std::byte* data = data_of ? data_of(arrival.record) : arrival.data;
      if (!data) continue;
      BlockRange& range = result.emplace_back();
      range.block = arrival.record.block.id;
      range.variable = request.variable;
      measure_range(arrival.record.view(data), arrival.record.points(), request.component, range);
    }
  };
  for (const Arrival& arrival : inboxes_[index].blocks) measure(arrival);
  for (const Arrival& arrival : persistent_) measure(arrival);
  return result;
}

bool InboxStore::advance(std::int64_t index) {
  const auto last = declarations_.upper_bound(index);
  const bool changed = last != declarations_.begin();
  for (auto it = declarations_.begin(); it != last; ++it) apply(it->second);
  declarations_.erase(declarations_.begin(), last);
  const auto newest = new_persistent_.upper_bound(index);
  for (auto it = new_persistent_.begin(); it != newest; ++it) replace(it->second);
  const bool newest_changed = newest != new_persistent_.begin();
  new_persistent_.erase(new_persistent_.begin(), newest);
  return changed || newest_changed;
}

}  // namespace sidestream
