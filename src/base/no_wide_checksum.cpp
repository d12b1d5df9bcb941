// Replaces avx2_checksum.cpp on other processors.
#include "base/checksum.hpp"

namespace sidestream {

Checksum wide_checksum() noexcept { return nullptr; }

}  // namespace sidestream
