#include <zstd.h>

#include <new>

#include "storage/trees/packer.hpp"

namespace sidestream::trees {

std::size_t compress(std::span<const std::uint8_t> in, int level, std::span<std::byte> room) {
  const std::size_t size = ZSTD_compress(room.data(), room.size(), in.data(), in.size(), level);
  return ZSTD_isError(size) ? 0 : size;  // no room: it saves nothing
}

Packed compressor() noexcept { return Packed::zstd; }

bool decompress_zstd(BytesView in, std::span<std::uint8_t> out) {
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
  return !ZSTD_isError(size) && size == out.size();
}

}  // namespace sidestream::trees
