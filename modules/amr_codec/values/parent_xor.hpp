// The code of the Hercule paper: exclusive or of children with their parent, without common leading zeros.
#pragma once

#include "amr_codec/values/chunk_view.hpp"

namespace sidestream::trees {

/// Appends the coded values. `chunk` must have groups and parents, the type must be `in_words`; header_bits: 1 to 6 (5
/// suffice for words of 32 bits). The bytes are: the number of header bits; the counts of zeros, with that many bits
/// each, padded to whole bytes; and for each group the remaining bits, with the first child lowest, padded to whole
/// bytes.
void encode_parent_xor(BytesView values, const TreeChunk& chunk, int header_bits, Bytes& out);

/// The inverse of encode_parent_xor(). `checksum_size` more bytes must follow `stream`. Throws Error(file).
void decode_parent_xor(BytesView stream, const TreeChunk& chunk, std::span<std::byte> values);

/// Bits per value that encode_parent_xor() needs for groups [first, last).
[[nodiscard]] double parent_xor_bits(BytesView values, const TreeChunk& chunk, int header_bits, std::size_t first,
                                     std::size_t last);

}  // namespace sidestream::trees
