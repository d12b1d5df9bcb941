#include "sidestream/kit/base/region_pool.hpp"

#include <algorithm>
#include <cstdlib>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

void RegionPool::Free::operator()(std::byte* p) const noexcept { std::free(p); }

RegionPool::~RegionPool() {
  if (lender_) lender_->give_back(borrowed_);
}

void RegionPool::drop_kept() noexcept {
  kept_ -= free_.begin()->first;
  free_.erase(free_.begin());
}

/// Makes space for `size` more bytes, counting kept regions: borrows missing bytes, or drops kept regions.
bool RegionPool::free_space_for(std::uint64_t size) noexcept {
  // Regions of sizes that no longer occur must not exceed the most that was ever in use at once.
  while (!free_.empty() && used_ + kept_ + size > std::max(peak_, used_ + size)) drop_kept();
  const auto fits = [&] {
    const std::uint64_t needed = used_ + kept_ + size;
    if (needed <= limit_ || needed - limit_ <= borrowed_) return true;
    const std::uint64_t missing = needed - limit_ - borrowed_;
    if (!lender_ || !lender_->borrow(missing)) return false;
    borrowed_ += missing;
    return true;
  };
  while (!fits()) {
    if (free_.empty()) return false;
    drop_kept();
  }
  return true;
}

void RegionPool::share() noexcept {
  if (borrowed_ == 0 || !lender_->wanted()) return;
  while (!free_.empty() && used_ + kept_ > limit_) drop_kept();
  const std::uint64_t needed = used_ + kept_ > limit_ ? used_ + kept_ - limit_ : 0;
  if (needed >= borrowed_) return;
  lender_->give_back(borrowed_ - needed);
  borrowed_ = needed;
}

std::byte* RegionPool::take(std::uint64_t bytes) {
  const std::uint64_t size = std::max<std::uint64_t>(64, round_up(bytes, 64));
  Regions::node_type region;
  const auto found = free_.find(size);
  if (found != free_.end()) {
    region = free_.extract(found);
    kept_ -= size;
  } else {
    if (!free_space_for(size)) return nullptr;
    Regions one;
    region = one.extract(one.emplace(size, Memory(static_cast<std::byte*>(std::aligned_alloc(64, size)))));
    if (!region.mapped())
      fail(Code::system, "no memory for a block of {} bytes; use smaller blocks or more nodes", bytes);
  }
  std::byte* data = region.mapped().get();
  taken_.emplace(data, std::move(region));
  used_ += size;
  peak_ = std::max(peak_, used_);
  return data;
}

void RegionPool::give_back(std::byte* data) noexcept {
  auto node = taken_.extract(data);
  if (node.empty()) return;
  const std::uint64_t size = node.mapped().key();
  free_.insert(std::move(node.mapped()));
  used_ -= size;
  kept_ += size;
  share();
}

}  // namespace sidestream
