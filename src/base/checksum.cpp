#include "base/checksum.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sidestream {

std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  static const Checksum wide = wide_checksum();
  return wide != nullptr ? wide(bytes.data(), bytes.size()) : XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace sidestream
