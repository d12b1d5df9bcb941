#include <fmt/format.h>

#include "storage/codecs/codecs.hpp"
#include "storage/codecs/pipeline.hpp"

namespace sidestream {

CodecKinds built_in_codecs() {
  CodecKinds kinds;
  const auto add = [&](CodecKind kind) { kinds.emplace(kind.name, std::move(kind)); };
  add(byte_shuffle_codec());
  add(bit_shuffle_codec());
  add(gzip_codec());
  add(half_codec());
  for (const int bytes : {1, 2, 4}) add(quantise_codec(bytes));
  if (std::optional<CodecKind> zstd = zstd_codec()) add(std::move(*zstd));
  if (std::optional<CodecKind> zfp = zfp_codec()) add(std::move(*zfp));
  return kinds;
}

std::string codec_manual() {
  std::string text;
  for (const auto& [name, kind] : built_in_codecs()) {
    text += fmt::format(" `{}{}{}`: {}", name, kind.argument.empty() ? "" : ":", kind.argument, kind.text);
  }
  return text;
}

}  // namespace sidestream
