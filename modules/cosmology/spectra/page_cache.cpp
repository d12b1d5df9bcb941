#include "cosmology/spectra/page_cache.hpp"

#include <new>

namespace sidestream::spectra {

std::shared_ptr<PageCache> PageCache::common() {
  static std::mutex mutex;
  static std::weak_ptr<PageCache> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<PageCache> cache = known.lock();
  if (!cache) known = cache = std::make_shared<PageCache>();
  return cache;
}

void* PageCache::take(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(mutex_);
  if (!kept_.empty() && kept_.back().second == bytes) {
    void* const memory = kept_.back().first;
    kept_.pop_back();
    return memory;
  }
  clear();
  void* const memory = std::aligned_alloc(alignment, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void PageCache::keep(void* memory, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    kept_.emplace_back(memory, bytes);
  } catch (const std::bad_alloc&) {
    std::free(memory);
  }
}

void PageCache::clear() noexcept {
  for (const auto& allocation : kept_) std::free(allocation.first);
  kept_.clear();
}

}  // namespace sidestream::spectra
