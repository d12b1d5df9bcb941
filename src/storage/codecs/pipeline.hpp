// Codecs one after the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/codec.hpp"

namespace sidestream {

/// Names of all codecs, for messages and manuals.
[[nodiscard]] std::vector<std::string> codec_names();
/// What they do, a sentence each.
[[nodiscard]] std::string codec_manual();
/// The codec of that name; null: there is none, or this build lacks its library.
[[nodiscard]] const Codec* find_codec(const std::string& name);

/// A list of codecs for elements of one type. Empty: values are kept as they are.
class Pipeline {
 public:
  Pipeline() = default;
  /// Throws Error(file) with a sentence if a codec is not known here, or the list makes no sense for the type.
  Pipeline(const std::vector<std::string>& names, Type type);
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  [[nodiscard]] bool lossless() const;
  /// False: the chunk is kept as it is.
  [[nodiscard]] bool encode(BytesView raw, Bytes& out) const;
  /// Throws Error(file) where the bytes are not what `encode` made.
  void decode(BytesView in, std::span<std::byte> raw) const;

 private:
  struct Step {
    const Codec* codec;
    Type type;  ///< of what it is given
  };
  std::vector<Step> steps_;
};

}  // namespace sidestream
