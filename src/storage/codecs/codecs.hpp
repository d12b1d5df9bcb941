// The codecs that come with Sidestream, one file each.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "sidestream/extend/codec.hpp"

namespace sidestream {

/// A codec as functions. The defaults suit a lossless codec for all types.
struct CodecFunctions {
  std::string name;
  std::function<bool(BytesView in, Type type, Bytes& out)> encode;
  std::function<void(BytesView in, Type type, std::span<std::byte> out)> decode;
  bool lossless = true;
  bool packs = false;
  std::function<bool(Type)> takes{};
  std::optional<Type> after{};
  std::size_t header = 0;
};
[[nodiscard]] std::shared_ptr<const Codec> make_codec(CodecFunctions functions);

/// A codec without an argument.
[[nodiscard]] CodecKind plain_codec(std::string text, CodecFunctions functions);

/// True for float32 and float64.
[[nodiscard]] inline bool is_real(Type type) noexcept { return type == Type::float32 || type == Type::float64; }

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
