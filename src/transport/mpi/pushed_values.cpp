#include "transport/mpi/pushed_values.hpp"

#include <limits>

#include "base/waiting.hpp"
#include "transport/mpi/packet.hpp"

namespace sidestream::mpi {

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
