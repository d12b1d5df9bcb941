// Checksums of data on disk.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sidestream {

/// XXH3 of 64 bits, seed 0.
[[nodiscard]] std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept;

// A checksum function that uses wider instructions than the baseline of the architecture. The file that compiles it
// includes nothing of the standard library: its functions would be shared with files that must do without these
// instructions.

using Checksum = uint64_t (*)(const void* bytes, size_t size);

/// The wide checksum function, or null if this build or this processor has none.
[[nodiscard]] Checksum wide_checksum() noexcept;

}  // namespace sidestream
