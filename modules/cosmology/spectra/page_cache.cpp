#include "cosmology/spectra/page_cache.hpp"

#include <new>

namespace sidestream::spectra {

std::shared_ptr<LargeRooms> LargeRooms::common() {
  static std::mutex mutex;
  static std::weak_ptr<LargeRooms> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<LargeRooms> rooms = known.lock();
  if (!rooms) known = rooms = std::make_shared<LargeRooms>();
  return rooms;
}

void* LargeRooms::take(std::size_t bytes, std::size_t alignment) {
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

void LargeRooms::keep(void* memory, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    kept_.emplace_back(memory, bytes);
  } catch (const std::bad_alloc&) {
    std::free(memory);
  }
}

void LargeRooms::clear() noexcept {
  for (const auto& room : kept_) std::free(room.first);
  kept_.clear();
}

}  // namespace sidestream::spectra
