// Lossless coder for values of octrees: one stream of bytes for each variable, level and chunk.
//
// Use in a database: levels are coded from the roots down. A chunk is a run of whole sibling groups of one level
// (2^d consecutive cells each, x fastest). Roots are chunks without parents. Companions come before the variables that
// name them. For each chunk of each variable:
//     Bytes stream = encode_tree_values(values, chunk, relations);
// The head of the stream tells a reader which values it must decode first (tree_stream_needs). Parents are values of
// the level above; companions are other variables in the same cells. The reader decodes these, and then calls
//     decode_tree_values(stream, chunk, relations, values);
// with the same `chunk` and `relations`. Relations belong to the schema; parents and neighbours follow from the
// structure (linked_tree.hpp). Parts that are not needed may be empty. The checksum of a stream reveals parents or
// companions that differ from those of the encoder. modules/amr_codec/stream-format.md specifies the bytes.
//
// All functions are pure: no state, no files, any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sidestream/extend/tree_codec.hpp"

namespace sidestream {

/// The method of a stream. The numbers are part of the format.
enum class TreeMethod : std::uint8_t {
  raw = 0,             ///< the values themselves
  constant = 1,        ///< one value, which all cells have
  zstd = 2,            ///< the bytes through zstd
  shuffled = 3,        ///< the bytes, grouped by significance, through zstd
  parent_xor = 4,      ///< exclusive or with the parent, without common leading zeros (parent_xor.hpp)
  predicted = 5,       ///< residual of a prediction, by its length and its bits
  predicted_zstd = 6,  ///< residual of a prediction, shuffled, through zstd
};

/// The name in modules/amr_codec/stream-format.md. Streams have the number only.
[[nodiscard]] std::string_view name_of(TreeMethod method) noexcept;

/// Settings of an encoder; decoders do not need them.
struct TreeCoding {
  std::optional<TreeMethod>
      method{};         ///< this method without trials, if it is possible; integers and roots cannot be predicted
  int header_bits = 6;  ///< for parent_xor: number of bits for a count of leading zeros; 4 in the paper
  int zstd_level = 0;   ///< 0: chosen by trials
};

/// Encodes the values of a chunk, which may be empty. Throws Error(usage) if sizes do not fit each other.
[[nodiscard]] Bytes encode_tree_values(BytesView values, const TreeChunk& chunk, const Relations& relations = {},
                                       const TreeCoding& coding = {});

/// Reads the method of a stream from its first bytes. Throws Error(file) if they are damaged.
[[nodiscard]] TreeMethod tree_stream_method(BytesView stream);

/// Reads only the first bytes of a stream; 16 are enough. Throws Error(file) if they are damaged.
[[nodiscard]] TreeStreamNeeds tree_stream_needs(BytesView stream);

/// Fills `values`, which has the size of the argument of encode_tree_values(). Throws Error(file) if the stream is
/// damaged, or was made with other parents or companions; `values` is undefined then. Throws Error(usage) if `chunk`
/// lacks values that the stream needs.
void decode_tree_values(BytesView stream, const TreeChunk& chunk, const Relations& relations,
                        std::span<std::byte> values);

/// The codec `tree` as the library sees it.
[[nodiscard]] CodecKind tree_codec_kind();

}  // namespace sidestream
