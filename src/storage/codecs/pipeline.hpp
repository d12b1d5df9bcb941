// Codecs: the available ones, and lists of codecs that are applied in sequence.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/tree_codec.hpp"

namespace sidestream {

/// The codecs that come with Sidestream.
[[nodiscard]] CodecKinds built_in_codecs();
/// The built-in codecs, and codecs of the plug-ins in the environment variable SIDESTREAM_CODEC_PLUGINS (paths
/// separated by colons). For programs that read databases without a configuration. Throws Error(configuration).
[[nodiscard]] CodecKinds codecs_for_readers();
/// Describes each codec in a sentence.
[[nodiscard]] std::string codec_manual();

/// The codec for values in cells of octrees, which a module provides.
struct FoundTreeCodec {
  std::shared_ptr<const TreeCodec> codec;  ///< null if there is none
  std::string missing;                     ///< if so, a sentence that says what to do
};

/// Finds the codec of that name among `kinds`, or else loads a module that has it. `base`: as for find_modules().
/// Throws Error(configuration) if the module was built with another library.
[[nodiscard]] FoundTreeCodec find_tree_codec(const std::string& name, CodecKinds kinds, const std::string& base);

/// Adds to `kinds` the codecs of these lists that it lacks and that modules have, which are loaded. `base`: as
/// find_modules(). Throws Error(file) with a sentence if a module is not there.
void add_codecs_of_modules(const std::vector<std::vector<std::string>>& lists, const std::string& base,
                           CodecKinds& kinds);

/// Throws Error(configuration) on all servers if only some of them have found the codec: nodes then have different
/// modules, and chunks of one variable would go through different lists of codecs. Collective.
void agree_on_tree_codec(Communicator& servers, bool found);

/// A list of codecs for elements of one type. An empty list stores values unchanged. Thread-safe.
class Pipeline {
 public:
  Pipeline() = default;
  /// Throws Error(file) with a sentence if a codec is unknown, or the list does not suit the type.
  Pipeline(const std::vector<std::string>& names, Type type, const CodecKinds& kinds);
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  [[nodiscard]] bool lossless() const;
  /// True if the last codec packs.
  [[nodiscard]] bool packs() const { return !steps_.empty() && steps_.back().codec->packs(); }
  /// Encodes a chunk. Returns false if the chunk should be stored unchanged.
  [[nodiscard]] bool encode(BytesView raw, Bytes& out, const ChunkPlace& place = {}) const;
  /// Decodes a chunk. Throws Error(file) if the bytes are not an output of `encode`.
  void decode(BytesView in, std::span<std::byte> raw) const;

 private:
  struct Step {
    std::shared_ptr<const Codec> codec;
    Type type;  ///< type of the step's input
  };
  std::vector<Step> steps_;
};

}  // namespace sidestream
