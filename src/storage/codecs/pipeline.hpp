// Codecs one after the other.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sidestream/extend/codec.hpp"

namespace sidestream {

/// Those that come with Sidestream.
[[nodiscard]] CodecKinds built_in_codecs();
/// Those and what the plug-ins have that the environment variable SIDESTREAM_CODEC_PLUGINS names (paths with colons
/// between): for programs that read databases without a configuration. Throws Error(configuration).
[[nodiscard]] CodecKinds codecs_for_readers();
/// What they do, a sentence each.
[[nodiscard]] std::string codec_manual();

/// A list of codecs for elements of one type. Empty: values are kept as they are. Used by several threads at once.
class Pipeline {
 public:
  Pipeline() = default;
  /// Throws Error(file) with a sentence if a codec is not known here, or the list makes no sense for the type.
  Pipeline(const std::vector<std::string>& names, Type type, const CodecKinds& kinds);
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  [[nodiscard]] bool lossless() const;
  /// False: the chunk is kept as it is.
  [[nodiscard]] bool encode(BytesView raw, Bytes& out) const;
  /// Throws Error(file) where the bytes are not what `encode` made.
  void decode(BytesView in, std::span<std::byte> raw) const;

 private:
  struct Step {
    std::shared_ptr<const Codec> codec;
    Type type;  ///< of what it is given
  };
  std::vector<Step> steps_;
};

}  // namespace sidestream
