// Frames of Blosc 1, whose bytes of the same significance are next to each other before they are compressed.
//
// Zarr has no such codec by itself, only in these frames. The frame is: a header of 16 bytes, the places of its blocks,
// and for each block its size and its compressed bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// The library that compressed the blocks, by its number in Blosc.
enum class BloscFormat : std::uint8_t { zlib = 3, zstd = 4 };

/// Bytes in a block.
inline constexpr std::size_t blosc_block = std::size_t{1} << 18;

/// Compresses into a room. Returns the size, or 0 if it needs more room.
using BloscPack = std::function<std::size_t(BytesView in, std::span<std::byte> room)>;

/// Appends the frame of values of `width` bytes, at most 255, to `out`. `values` has less than 2^31 - 16 bytes. Never
/// more than 16 bytes longer than the values.
void append_blosc_frame(BytesView values, std::size_t width, BloscFormat format, const BloscPack& pack, Bytes& out);

}  // namespace sidestream
