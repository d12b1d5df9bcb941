// Checksums of data on disk: the functions behind the kit's.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sidestream/kit/base/checksum.hpp"

namespace sidestream {

// A checksum with wider instructions than the architecture's baseline. The file that compiles it includes nothing of
// the standard library: the linker might share such functions with files that must do without these instructions.

using Checksum = uint64_t (*)(const void* bytes, size_t size);

/// The wide checksum function, or null if this build or this processor has none.
[[nodiscard]] Checksum wide_checksum() noexcept;

}  // namespace sidestream
