// The bytes before the bits of a chunk: its version and place, then a head for each box.
#pragma once

#include "bounded_codec/box_coder.hpp"
#include "sidestream/extend/codec.hpp"

namespace sidestream::bounded {

/// Number 1 has values on a lattice, number 2 their logarithms, with states (states.hpp).
enum class Version : std::uint8_t { linear = 1, powers = 2 };

inline constexpr std::size_t place_bytes = 33;
[[nodiscard]] constexpr std::size_t head_bytes(Version version) noexcept {
  return 8 + 2 + 4 + ruled_levels * 3 + (version == Version::powers ? 1 : 0);
}

/// The place as it is stored: what comes before the chunk's first layer does not count.
[[nodiscard]] ChunkPlace stored_place(const ChunkPlace& place);

void put_place(Version version, const ChunkPlace& place, Bytes& out);
/// False if the bytes cannot be those of a place.
[[nodiscard]] bool get_place(BytesView in, Version& version, ChunkPlace& place);

void put_head(Version version, const BoxHead& head, Bytes& out);
/// False if no encoder has made these bytes, of which there are head_bytes(version).
[[nodiscard]] bool get_head(Version version, BytesView in, BoxHead& head);

}  // namespace sidestream::bounded
