#include "storage/codecs/pipeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sidestream/kit/base/fail.hpp"
#include "storage/codecs/codecs.hpp"

namespace sidestream {

namespace {

class FunctionCodec final : public Codec {
 public:
  explicit FunctionCodec(CodecFunctions functions) : functions_(std::move(functions)) {}
  std::string name() const override { return functions_.name; }
  bool lossless() const override { return functions_.lossless; }
  bool packs() const override { return functions_.packs; }
  bool takes(Type type) const override { return !functions_.takes || functions_.takes(type); }
  Type after(Type type) const override { return functions_.after.value_or(type); }
  std::size_t header() const override { return functions_.header; }
  bool encode(BytesView in, Type type, Bytes& out) const override { return functions_.encode(in, type, out); }
  void decode(BytesView in, Type type, std::span<std::byte> out) const override { functions_.decode(in, type, out); }

 private:
  CodecFunctions functions_;
};

}  // namespace

std::shared_ptr<const Codec> make_codec(CodecFunctions functions) {
  return std::make_shared<FunctionCodec>(std::move(functions));
}

CodecKind plain_codec(std::string text, CodecFunctions functions) {
  const std::string name = functions.name;
  return {name, std::move(text), {}, [codec = make_codec(std::move(functions))](const std::string&) { return codec; }};
}

CodecKinds built_in_codecs() {
  CodecKinds kinds;
  const auto add = [&](CodecKind kind) { kinds.emplace(kind.name, std::move(kind)); };
  add(byte_shuffle_codec());
  add(bit_shuffle_codec());
  add(gzip_codec());
  add(half_codec());
  add(bit_round_codec());
  add(round_codec());
  add(single_codec());
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

namespace {

/// `text` is `name` or `name:argument`.
std::shared_ptr<const Codec> make_codec(const std::string& text, const CodecKinds& kinds) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string argument = colon == std::string::npos ? std::string() : text.substr(colon + 1);
  const auto found = kinds.find(name);
  if (found == kinds.end()) {
    std::vector<std::string> names;
    for (const auto& [known, kind] : kinds) names.push_back(known);
    fail(Code::file,
         "the codec '{}' is not in this build of Sidestream, nor in a plug-in that is loaded here; there are {}. If a "
         "plug-in brings it, name that under 'plugins:', or for programs that read in the environment variable "
         "SIDESTREAM_CODEC_PLUGINS",
         name, fmt::join(names, ", "));
  }
  const bool takes = !found->second.argument.empty();
  if (takes != !argument.empty() || (!takes && colon != std::string::npos)) {
    fail(Code::file, "found the codec '{}', expected '{}{}{}'; correct it", text, name, takes ? ":" : "",
         found->second.argument);
  }
  return found->second.create(argument);
}

}  // namespace

Pipeline::Pipeline(const std::vector<std::string>& names, Type type, const CodecKinds& kinds) {
  for (const std::string& name : names) {
    std::shared_ptr<const Codec> codec = make_codec(name, kinds);
    if (!steps_.empty() && steps_.back().codec->packs()) {
      fail(Code::file, "the codec '{}' stands before '{}', but what packs must be the last one",
           steps_.back().codec->name(), name);
    }
    if (!codec->takes(type)) fail(Code::file, "the codec '{}' does not take values of type {}", name, name_of(type));
    const Type after = codec->after(type);
    steps_.push_back({std::move(codec), type});
    type = after;
  }
}

bool Pipeline::lossless() const {
  for (const Step& step : steps_) {
    if (!step.codec->lossless()) return false;
  }
  return true;
}

bool Pipeline::encode(BytesView raw, Bytes& out, const ChunkPlace& place) const {
  if (steps_.empty()) return false;
  Bytes before;
  for (const Step& step : steps_) {
    std::swap(before, out);
    const BytesView in = &step == &steps_.front() ? raw : BytesView(before);
    if (!step.codec->encode_at(in, step.type, place, out)) return false;
  }
  // An output that is not smaller does not pay for its decoding.
  return out.size() < raw.size() || !lossless();
}

void Pipeline::decode(BytesView in, std::span<std::byte> raw) const {
  std::vector<std::size_t> sizes{raw.size()};
  for (const Step& step : steps_) {
    const std::size_t elements = sizes.back() / size_of(step.type);
    sizes.push_back(elements * size_of(step.codec->after(step.type)) + step.codec->header());
  }
  Bytes current;
  BytesView from = in;
  for (std::size_t n = steps_.size(); n-- > 0;) {
    const Step& step = steps_[n];
    if (!step.codec->packs() && from.size() != sizes[n + 1]) {
      fail(Code::file, "{} bytes where the codec '{}' makes {}; they are damaged", from.size(), step.codec->name(),
           sizes[n + 1]);
    }
    if (n == 0) return step.codec->decode(from, step.type, raw);
    // Sizes are computed from the number of values, so that a damaged file cannot demand more memory.
    Bytes next(sizes[n]);
    step.codec->decode(from, step.type, next);
    current = std::move(next);
    from = current;
  }
}

}  // namespace sidestream
