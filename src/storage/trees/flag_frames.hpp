// Compression of short byte arrays with zstd; builds without it compress nothing.
#pragma once

#include <span>

#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Appends the compressed `in` to `out`. Returns false, with `out` unchanged, if that is not smaller, or if this build
/// has no zstd. Throws std::bad_alloc.
[[nodiscard]] bool append_frame(BytesView in, Bytes& out);

/// Unpacks a frame to `out` and returns its size. Throws Error(file) if it is damaged, or larger than out.size().
[[nodiscard]] std::size_t read_frame(BytesView frame, std::span<std::byte> out);

}  // namespace sidestream
