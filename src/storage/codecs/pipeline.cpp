#include "storage/codecs/pipeline.hpp"

#include <fmt/format.h>

#include "base/fail.hpp"

namespace sidestream {

Pipeline::Pipeline(const std::vector<std::string>& names, Type type) {
  for (const std::string& name : names) {
    const Codec* codec = find_codec(name);
    if (codec == nullptr) {
      fail(Code::file, "the codec '{}' is not in this build of Sidestream; there are {}", name,
           fmt::join(codec_names(), ", "));
    }
    if (!steps_.empty() && steps_.back().codec->packs()) {
      fail(Code::file, "the codec '{}' stands before '{}', but what packs must be the last one",
           steps_.back().codec->name(), name);
    }
    if (!codec->takes(type)) fail(Code::file, "the codec '{}' does not take values of type {}", name, name_of(type));
    steps_.push_back({codec, type});
    type = codec->after(type);
  }
}

bool Pipeline::lossless() const {
  for (const Step& step : steps_) {
    if (!step.codec->lossless()) return false;
  }
  return true;
}

bool Pipeline::encode(BytesView raw, Bytes& out) const {
  if (steps_.empty()) return false;
  Bytes before;
  for (const Step& step : steps_) {
    std::swap(before, out);
    if (!step.codec->encode(&step == &steps_.front() ? raw : BytesView(before), step.type, out)) return false;
  }
  // What comes out no smaller is not worth undoing.
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
    // Sizes follow from that of the values: nothing in the file says how much memory to take.
    Bytes next(sizes[n]);
    step.codec->decode(from, step.type, next);
    current = std::move(next);
    from = current;
  }
}

}  // namespace sidestream
