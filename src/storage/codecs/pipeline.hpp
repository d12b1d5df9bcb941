// Codecs applied one after the other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/codec.hpp"

namespace sidestream {

/// The codecs that come with Sidestream.
[[nodiscard]] CodecKinds built_in_codecs();
/// The built-in codecs and those of the plug-ins that the environment variable SIDESTREAM_CODEC_PLUGINS names (paths
/// separated by colons). For programs that read databases without a configuration. Throws Error(configuration).
[[nodiscard]] CodecKinds codecs_for_readers();
/// Describes each codec in a sentence.
[[nodiscard]] std::string codec_manual();

/// A list of codecs for elements of one type. An empty list stores values unchanged. Thread-safe.
class Pipeline {
 public:
  Pipeline() = default;
  /// Throws Error(file) with a sentence if a codec is unknown here, or the list does not suit the type.
  Pipeline(const std::vector<std::string>& names, Type type, const CodecKinds& kinds);
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  [[nodiscard]] bool lossless() const;
  /// Returns false if the chunk is to be stored unchanged.
  [[nodiscard]] bool encode(BytesView raw, Bytes& out) const;
  /// Throws Error(file) if the bytes are not an output of `encode`.
  void decode(BytesView in, std::span<std::byte> raw) const;

 private:
  struct Step {
    std::shared_ptr<const Codec> codec;
    Type type;  ///< of its input
  };
  std::vector<Step> steps_;
};

}  // namespace sidestream
