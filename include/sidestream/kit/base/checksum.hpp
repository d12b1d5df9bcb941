// The checksum of data on disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sidestream {

/// XXH3 of 64 bits, seed 0.
[[nodiscard]] std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept;

}  // namespace sidestream
