// Checksums of what goes to disk and comes back.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sidestream {

/// XXH3 of 64 bits, seed 0.
[[nodiscard]] std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept;

// The checksum by wider instructions than every processor of the kind has. Nothing of the standard library is included
// where it is compiled: its functions would be shared with files that must do without.

using Checksum = uint64_t (*)(const void* bytes, size_t size);

/// Null: this build or this processor has none.
[[nodiscard]] Checksum wide_checksum() noexcept;

}  // namespace sidestream
