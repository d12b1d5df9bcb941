#include "transport/region_pool.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/checked.hpp"

namespace sidestream {

void RegionPool::Free::operator()(std::byte* p) const noexcept { std::free(p); }

std::byte* RegionPool::take(std::uint64_t bytes) {
  const std::uint64_t size = std::max<std::uint64_t>(64, round_up(bytes, 64));
  if (used_ + size > limit_) return nullptr;
  Memory memory;
  const auto found = free_.find(size);
  if (found != free_.end()) {
    memory = std::move(found->second);
    free_.erase(found);
    kept_ -= size;
  } else {
    // Sizes that no longer occur must not add up beyond what was ever in use at once.
    while (!free_.empty() && used_ + kept_ + size > std::min(limit_, std::max(peak_, used_ + size))) {
      kept_ -= free_.begin()->first;
      free_.erase(free_.begin());
    }
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(64, size)));
    if (!memory) fail(Code::system, "no memory for a block of {} bytes; use smaller blocks or more nodes", bytes);
  }
  std::byte* data = memory.get();
  taken_.emplace(data, std::make_pair(size, std::move(memory)));
  used_ += size;
  peak_ = std::max(peak_, used_);
  return data;
}

void RegionPool::give_back(std::byte* data) {
  auto node = taken_.extract(data);
  if (node.empty()) return;
  auto& [size, memory] = node.mapped();
  used_ -= size;
  kept_ += size;
  free_.emplace(size, std::move(memory));
}

std::byte* RegionUses::reserve(std::uint64_t bytes) {
  std::byte* data = pool_.take(bytes);
  if (data) uses_[data] = Use{true, false};
  return data;
}

void RegionUses::commit(std::byte* data, bool hold) { uses_[data] = Use{hold, true}; }

void RegionUses::clear(std::byte* data) {
  const auto found = uses_.find(data);
  if (found == uses_.end()) return;
  found->second.held = false;
  free_if_unused(data);
}

void RegionUses::release(std::byte* data) {
  const auto found = uses_.find(data);
  if (found == uses_.end()) return;
  found->second.needed = false;
  free_if_unused(data);
}

void RegionUses::free_if_unused(std::byte* data) {
  const auto found = uses_.find(data);
  if (found == uses_.end() || found->second.held || found->second.needed) return;
  uses_.erase(found);
  pool_.give_back(data);
}

}  // namespace sidestream
