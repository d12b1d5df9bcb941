// The paper's code: exclusive or of each child with its parent, and what leading zeros all children of a group have
// left out.
#pragma once

#include "storage/trees/values/chunk_view.hpp"

namespace sidestream::trees {

/// Paper 004, section 2.3. `chunk` has groups and parents, values are of a type that is `in_words`; header_bits: 1 to 6
/// (5 are all there is for words of 32 bits). Appends: the number of header bits; the counts of zeros, that many bits
/// each, filled up to whole bytes; of each group the remaining bits, the first child's in the lowest, filled up to
/// whole bytes.
void encode_parent_xor(BytesView values, const TreeChunk& chunk, int header_bits, Bytes& out);

/// Throws Error(file). Behind `stream` are checksum_size bytes more.
void decode_parent_xor(BytesView stream, const TreeChunk& chunk, std::span<std::byte> values);

/// What encode_parent_xor would make of groups [first, last), in bits a value.
[[nodiscard]] double parent_xor_bits(BytesView values, const TreeChunk& chunk, int header_bits, std::size_t first,
                                     std::size_t last);

}  // namespace sidestream::trees
