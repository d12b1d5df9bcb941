// The checksum by wider instructions than every processor of the kind has. Nothing of the standard library is included
// where it is compiled: its functions would be shared with files that must do without.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sidestream {

using Checksum = uint64_t (*)(const void* bytes, size_t size);

/// Null: this build or this processor has none.
[[nodiscard]] Checksum wide_checksum() noexcept;

}  // namespace sidestream
