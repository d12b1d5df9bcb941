// Short runs of bytes through zstd; in builds without it nothing is packed.
#pragma once

#include <span>

#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Appends what zstd makes of `in` to `out`. False: it is not smaller, or this build has no zstd; `out` is as it was.
/// Throws std::bad_alloc.
[[nodiscard]] bool append_frame(BytesView in, Bytes& out);

/// The bytes of a frame, of which there are at most out.size(). Throws Error(file) where it is damaged, or has more.
[[nodiscard]] std::size_t read_frame(BytesView frame, std::span<std::byte> out);

}  // namespace sidestream
