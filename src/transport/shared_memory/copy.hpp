// Copying values into shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sidestream::shared_memory {

/// memcpy, done in the way that is fastest for this size; the areas do not overlap. When it returns, all is
/// ordered before any later release store, also values that were stored around the cache.
void copy_to_shared(void* to, const void* from, std::uint64_t bytes) noexcept;

/// The same with streaming stores whatever the size; plain memcpy on processors other than x86-64.
void stream_to_shared(void* to, const void* from, std::uint64_t bytes) noexcept;

/// copy_to_shared streams blocks of at least this many bytes.
inline constexpr std::uint64_t streamed_from = 12ull << 20;

}  // namespace sidestream::shared_memory
