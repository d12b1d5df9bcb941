#include "base/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sidestream {

std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
#ifdef SIDESTREAM_AVX2_CHECKSUM
  static const Checksum wide = wide_checksum();
  if (wide != nullptr) return wide(bytes.data(), bytes.size());
#endif
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace sidestream
