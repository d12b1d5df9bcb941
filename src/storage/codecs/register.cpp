#include <fmt/format.h>

#include "storage/codecs/codecs.hpp"
#include "storage/codecs/pipeline.hpp"

namespace sidestream {

namespace {

std::vector<const Codec*> all_codecs() {
  std::vector<const Codec*> codecs{&byte_shuffle_codec(), &bit_shuffle_codec()};
  if (zstd_codec() != nullptr) codecs.push_back(zstd_codec());
  for (const Codec* codec :
       {&gzip_codec(), &half_codec(), &quantise_codec(1), &quantise_codec(2), &quantise_codec(4)}) {
    codecs.push_back(codec);
  }
  return codecs;
}

}  // namespace

std::vector<std::string> codec_names() {
  std::vector<std::string> names;
  for (const Codec* codec : all_codecs()) names.push_back(codec->name());
  return names;
}

std::string codec_manual() {
  std::string text;
  for (const Codec* codec : all_codecs()) text += fmt::format(" `{}`: {}", codec->name(), codec->text());
  return text;
}

const Codec* find_codec(const std::string& name) {
  for (const Codec* codec : all_codecs()) {
    if (codec->name() == name) return codec;
  }
  return nullptr;
}

}  // namespace sidestream
