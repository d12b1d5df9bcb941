// Copying values into shared memory.
#pragma once

#include <cstdint>

namespace sidestream::shared_memory {

/// Copies like memcpy, by the fastest method for this size; the areas must not overlap. All stores, including those
/// that bypass the cache, are ordered before any later release store.
void copy_to_shared(void* to, const void* from, std::uint64_t bytes) noexcept;

/// Copies with streaming stores whatever the size; plain memcpy on processors other than x86-64.
void stream_to_shared(void* to, const void* from, std::uint64_t bytes) noexcept;

/// copy_to_shared streams blocks of at least this many bytes.
inline constexpr std::uint64_t streamed_from = 12ull << 20;

}  // namespace sidestream::shared_memory
