// CRC-32C (Castagnoli), the checksum of Zarr.
#pragma once

#include <cstdint>
#include <string_view>

namespace sidestream {

[[nodiscard]] std::uint32_t crc32c(std::string_view bytes) noexcept;
/// The same on processors without an instruction for it.
[[nodiscard]] std::uint32_t crc32c_by_tables(std::string_view bytes) noexcept;

}  // namespace sidestream
