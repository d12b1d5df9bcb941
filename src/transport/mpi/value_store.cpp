// Values of a rank by iteration, variable and block, and the receiving of pushed values.
//
// ValueStore keeps a persistent array in versions, each valid for a range of iterations. `drop` returns the arrays of
// iterations, and of versions, that nobody needs any more. A lock protects it: the simulation's thread puts, the thread
// that calls MPI finds.
// PushedValues:
// 1. expect: notes the values that a manifest announces.
// 2. begin: allocates memory for all values of an iteration or for none, and then posts the receives. From then on it
//    retries instead of failing, because what was sent must be received.
// 3. arrived, release: complete the iteration, and return its memory to the pool.
#include "transport/mpi/value_store.hpp"

#include <algorithm>
#include <limits>

#include "sidestream/kit/base/waiting.hpp"
#include "transport/mpi/packet.hpp"

namespace sidestream::mpi {

std::optional<Arrival> ValueStore::put(std::int64_t index, const Arrival& arrival) {
  const std::lock_guard lock(mutex_);
  const Key key(arrival.record.variable, arrival.record.block.id);
  if (!arrival.record.persistent) {
    const auto [place, fresh] = iterations_[index].try_emplace(key, arrival);
    return fresh ? std::nullopt : std::optional(std::exchange(place->second, arrival));
  }
  std::vector<Kept>& versions = persistent_[key];
  versions.reserve(versions.size() + 1);
  if (!versions.empty()) versions.back().until = std::min(versions.back().until, index);
  versions.push_back({index, arrival});
  return std::nullopt;
}

void ValueStore::complete(std::int64_t index, bool refused) {
  const std::lock_guard lock(mutex_);
  if (refused) refused_.insert(index);
  completed_ = std::max(completed_, index + 1);
}

bool ValueStore::is_refused(std::int64_t index) const {
  const std::lock_guard lock(mutex_);
  return refused_.contains(index);
}

bool ValueStore::is_complete(std::int64_t index) const {
  const std::lock_guard lock(mutex_);
  return index < completed_;
}

const ValueStore::Kept* ValueStore::kept(std::int64_t index, const Key& key) const {
  const auto found = persistent_.find(key);
  if (found == persistent_.end()) return nullptr;
  for (auto it = found->second.rbegin(); it != found->second.rend(); ++it) {
    if (it->since <= index && index < it->until) return &*it;
  }
  return nullptr;
}

std::optional<Arrival> ValueStore::find(std::int64_t index, std::int32_t variable, std::int64_t block) const {
  const std::lock_guard lock(mutex_);
  const Key key(variable, block);
  const auto iteration = iterations_.find(index);
  if (iteration != iterations_.end()) {
    const auto found = iteration->second.find(key);
    if (found != iteration->second.end()) return found->second;
  }
  const Kept* found = kept(index, key);
  return found ? std::optional(found->arrival) : std::nullopt;
}

std::vector<Arrival> ValueStore::of(std::int64_t index, std::int32_t variable) const {
  const std::lock_guard lock(mutex_);
  std::vector<Arrival> result;
  const Key first(variable, INT64_MIN);
  if (const auto iteration = iterations_.find(index); iteration != iterations_.end()) {
    auto it = iteration->second.lower_bound(first);
    for (; it != iteration->second.end() && it->first.first == variable; ++it) result.push_back(it->second);
  }
  for (auto it = persistent_.lower_bound(first); it != persistent_.end() && it->first.first == variable; ++it) {
    if (const Kept* found = kept(index, it->first)) result.push_back(found->arrival);
  }
  return result;
}

std::vector<Arrival> ValueStore::drop(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  std::vector<Arrival> freed;
  const auto last = iterations_.upper_bound(index);
  for (auto it = iterations_.begin(); it != last; ++it) {
    for (const auto& one : it->second) retry_while_out_of_memory([&] { freed.push_back(one.second); });
  }
  iterations_.erase(iterations_.begin(), last);
  refused_.erase(refused_.begin(), refused_.upper_bound(index));
  for (auto it = persistent_.begin(); it != persistent_.end();) {
    std::erase_if(it->second, [&](const Kept& version) {
      if (version.until > index + 1) return false;
      retry_while_out_of_memory([&] { freed.push_back(version.arrival); });
      return true;
    });
    it = it->second.empty() ? persistent_.erase(it) : std::next(it);
  }
  return freed;
}

std::optional<Arrival> ValueStore::take_kept(std::int32_t variable, std::int64_t block) {
  const std::lock_guard lock(mutex_);
  const auto found = persistent_.find(Key(variable, block));
  if (found == persistent_.end() || found->second.empty() || found->second.back().until != INT64_MAX) {
    return std::nullopt;
  }
  const Arrival arrival = found->second.back().arrival;
  found->second.pop_back();
  if (found->second.empty()) persistent_.erase(found);
  return arrival;
}

void ValueStore::forget(std::int64_t index, const Block& block, bool removed) {
  const std::lock_guard lock(mutex_);
  for (auto& [key, versions] : persistent_) {
    if (versions.empty() || key.second != block.id) continue;
    const Block& known = versions.back().arrival.record.block;
    // Keeps arrays that fit the block as it is now; it may have moved in space.
    const bool same_client = known.mesh == block.mesh && known.client == block.client;
    if (!same_client || (!removed && known.same_shape(block))) continue;
    versions.back().until = std::min(versions.back().until, index);
  }
}

PushedValues::PushedValues(std::shared_ptr<MpiCommunicator> comm, ValueStore& value_store)
    : comm_(std::move(comm)), value_store_(value_store), pool_(std::numeric_limits<std::uint64_t>::max()) {}

PushedValues::~PushedValues() {
  if (mpi_is_finalized()) return;
  for (auto& [index, coming] : coming_) {
    for (MPI_Request& request : coming.requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

void PushedValues::expect(int source, std::int64_t index, const BlockRecord& record) {
  expected_[index].push_back({source, record});
}

/// Allocates memory for all values of the iteration, or for none.
std::vector<std::byte*> PushedValues::memory_for(std::int64_t index) {
  std::vector<std::byte*> memory;
  const auto found = expected_.find(index);
  if (found == expected_.end()) return memory;
  try {
    memory.reserve(found->second.size());
    for (const Expected& value : found->second) memory.push_back(pool_.take(value.record.bytes));
  } catch (...) {
    for (std::byte* data : memory) pool_.give_back(data);
    value_store_.complete(index);
    throw;
  }
  return memory;
}

void PushedValues::begin(std::int64_t index) {
  if (coming_.contains(index)) return;
  const std::vector<std::byte*> memory = memory_for(index);
  // From here on nothing may fail: values that were sent must be received.
  retry_while_out_of_memory([&] { coming_[index]; });
  Coming& coming = coming_[index];
  for (const BlockChange& change : changes_.contains(index) ? changes_[index] : std::vector<BlockChange>{})
    value_store_.forget(index, change.block, change.removed != 0);
  changes_.erase(index);
  const auto found = expected_.find(index);
  if (found == expected_.end()) return;
  for (std::size_t n = 0; n < memory.size(); ++n) {
    const Expected& value = found->second[n];
    bytes_ += value.record.bytes;
    retry_while_out_of_memory([&] {
      post_receive(comm_->comm(), value.source, value.record.persistent ? pushed_persistent_tag : pushed_tag, memory[n],
                   value.record.bytes, coming.requests);
    });
    std::optional<Arrival> replaced;
    retry_while_out_of_memory([&] { replaced = value_store_.put(index, Arrival{value.record, memory[n]}); });
    if (replaced) retry_while_out_of_memory([&] { coming.replaced.push_back(const_cast<std::byte*>(replaced->data)); });
  }
  expected_.erase(found);
}

bool PushedValues::arrived(std::int64_t index) {
  Coming& coming = coming_[index];
  if (coming.complete) return true;
  if (!test_all(coming.requests)) return false;
  coming.complete = true;
  value_store_.complete(index);
  return true;
}

void PushedValues::release(std::int64_t index) {
  for (const Arrival& arrival : value_store_.drop(index)) pool_.give_back(const_cast<std::byte*>(arrival.data));
  for (std::byte* data : coming_[index].replaced) pool_.give_back(data);
  coming_.erase(index);
}

}  // namespace sidestream::mpi
