#include "transport/region_uses.hpp"

namespace sidestream {

std::byte* RegionUses::reserve(std::uint64_t bytes) {
  std::byte* data = pool_.take(bytes);
  if (!data) return nullptr;
  try {
    uses_[data] = Use{true, false};
  } catch (...) {
    pool_.give_back(data);
    throw;
  }
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
