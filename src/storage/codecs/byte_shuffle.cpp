#include "storage/codecs/codecs.hpp"

namespace sidestream {

namespace {

class ByteShuffle final : public Codec {
 public:
  std::string name() const override { return "byte-shuffle"; }
  bool encode(BytesView in, Type type, Bytes& out) const override {
    const std::size_t width = size_of(type), count = in.size() / width;
    out.resize(in.size());
    for (std::size_t b = 0; b < width; ++b) {
      for (std::size_t n = 0; n < count; ++n) out[b * count + n] = in[n * width + b];
    }
    return true;
  }
  void decode(BytesView in, Type type, std::span<std::byte> out) const override {
    const std::size_t width = size_of(type), count = in.size() / width;
    for (std::size_t b = 0; b < width; ++b) {
      for (std::size_t n = 0; n < count; ++n) out[n * width + b] = in[b * count + n];
    }
  }
};

}  // namespace

CodecKind byte_shuffle_codec() {
  return plain_codec<ByteShuffle>("byte-shuffle", "bytes of the same significance next to each other.");
}

}  // namespace sidestream
