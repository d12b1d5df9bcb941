// Byte shuffle: groups bytes of the same significance.
#pragma once

#include <cstring>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::trees {

/// Replaces `out`. An incomplete last element is copied behind the others.
void shuffle(BytesView in, std::size_t width, Bytes& out);
/// The inverse of shuffle(); `out` has the size of `in`.
void unshuffle(BytesView in, std::size_t width, std::span<std::byte> out);

}  // namespace sidestream::trees
