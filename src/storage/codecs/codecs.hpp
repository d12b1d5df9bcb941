// The codecs that come with Sidestream, one file each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sidestream/extend/codec.hpp"

namespace sidestream {

/// A codec without an argument.
template <class Made>
[[nodiscard]] CodecKind plain_codec(std::string name, std::string text) {
  CodecKind kind;
  kind.name = std::move(name);
  kind.text = std::move(text);
  kind.create = [](const std::string&) { return std::make_shared<Made>(); };
  return kind;
}

[[nodiscard]] CodecKind byte_shuffle_codec();
[[nodiscard]] CodecKind bit_shuffle_codec();
[[nodiscard]] CodecKind gzip_codec();
[[nodiscard]] std::optional<CodecKind> zstd_codec();                  ///< nothing if built without zstd
[[nodiscard]] std::shared_ptr<const Codec> zstd_of_level(int level);  ///< null if built without zstd
[[nodiscard]] CodecKind half_codec();
[[nodiscard]] CodecKind bit_round_codec();
[[nodiscard]] CodecKind round_codec();
[[nodiscard]] CodecKind single_codec();
[[nodiscard]] CodecKind quantise_codec(int bytes);   ///< 1, 2 or 4
[[nodiscard]] std::optional<CodecKind> zfp_codec();  ///< nothing if built without zfp

}  // namespace sidestream
