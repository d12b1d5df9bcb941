#include <zstd.h>

#include "climate/cf/zarr_codecs.hpp"

namespace sidestream {

bool has_zstd() noexcept { return true; }

std::size_t zstd_room(std::size_t size) { return ZSTD_compressBound(size); }

std::size_t zstd_pack(BytesView in, int level, std::span<std::byte> room) {
  const std::size_t size = ZSTD_compress(room.data(), room.size(), in.data(), in.size(), level);
  return ZSTD_isError(size) != 0 ? 0 : size;
}

}  // namespace sidestream
