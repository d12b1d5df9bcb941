#include "transport/in_process/transport.hpp"

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

std::optional<Region> InProcessTransport::reserve(std::uint64_t bytes, bool) {
  std::byte* data = uses_->reserve(bytes);
  if (!data && when_full_ == WhenFull::skip && bytes <= uses_->pool().limit()) return std::nullopt;
  if (!data) {
    fail(Code::full,
         "a block of {} bytes does not fit: this rank's share of placement.buffer, {} bytes, is smaller than one "
         "iteration; raise placement.buffer",
         bytes, uses_->pool().limit());
  }
  return Region{data, bytes, 0};
}

void InProcessTransport::commit(const BlockRecord& record, const Region& region, bool hold) {
  uses_->commit(region.data, hold);
  store_.add(0, Arrival{record, region.data});
  if (!record.persistent) return;
  std::byte*& data = persistent_data_[{record.variable, record.block.id}];
  if (data) replaced_.push_back(data);
  data = region.data;
}

/// Iterations are released in their `end`, so no iteration can still read the array.
bool InProcessTransport::retire(const BlockRecord& record) {
  const auto found = persistent_data_.find({record.variable, record.block.id});
  if (found == persistent_data_.end()) return false;
  uses_->release(found->second);
  persistent_data_.erase(found);
  return true;
}

Settled InProcessTransport::outcome(std::int64_t index) {
  const auto found = outcomes_.find(index);
  if (found == outcomes_.end()) return {};
  const Outcome outcome = found->second;
  outcomes_.erase(found);
  return {outcome, 0};
}

bool InProcessTransport::drain(std::chrono::milliseconds) {
  store_.close(0);
  return true;
}

bool InProcessTransport::notify(const Notice& notice) {
  if (notice.payload.size() > longest_notice) {
    fail(Code::usage, "a notice of {} bytes is too long, {} are possible", notice.payload.size(), longest_notice);
  }
  news_.notices.push_back(notice);
  return true;
}

void InProcessTransport::release(std::int64_t index, Outcome outcome) {
  outcomes_[index] = outcome;  // First, because nothing below allocates.
  for (const Arrival& arrival : store_.inbox(index).blocks) uses_->release(const_cast<std::byte*>(arrival.data));
  for (std::byte* data : std::exchange(replaced_, {})) uses_->release(data);
  store_.drop(index);
}

}  // namespace sidestream
