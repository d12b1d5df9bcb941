// In place of avx2_checksum.cpp on other processors.
#include "base/wide_checksum.hpp"

namespace sidestream {

Checksum wide_checksum() noexcept { return nullptr; }

}  // namespace sidestream
