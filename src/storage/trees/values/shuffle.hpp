// Bytes of the same significance next to each other.
#pragma once

#include <cstring>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::trees {

/// `out` is replaced. A last part of an element stays behind as it is.
void shuffle(BytesView in, std::size_t width, Bytes& out);
/// `out` has the size of `in`.
void unshuffle(BytesView in, std::size_t width, std::span<std::byte> out);

}  // namespace sidestream::trees
