#include "climate/cf/zarr_codecs.hpp"

namespace sidestream {

bool has_zstd() noexcept { return false; }

// Never called: the options refuse zstd.
std::size_t zstd_room(std::size_t size) { return size; }
std::size_t zstd_pack(BytesView, int, std::span<std::byte>) { return 0; }

}  // namespace sidestream
