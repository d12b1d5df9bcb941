// Copying values into shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sidestream::shared_memory {

/// memcpy, done in the way that is fastest on this processor for this size; the areas do not overlap. When it
/// returns, all is ordered before any later release store, also values that were stored around the cache.
void copy_to_shared(void* to, const void* from, std::uint64_t bytes) noexcept;

}  // namespace sidestream::shared_memory
