#include <zstd.h>

#include "sidestream/kit/base/fail.hpp"
#include "storage/codecs/codecs.hpp"

namespace sidestream {

namespace {

constexpr int zstd_level = 1;

class Zstd final : public Codec {
 public:
  explicit Zstd(int level = zstd_level) : level_(level) {}
  std::string name() const override { return "zstd"; }
  bool packs() const override { return true; }
  bool encode(BytesView in, Type, Bytes& out) const override {
    out.resize(ZSTD_compressBound(in.size()));
    const std::size_t size = ZSTD_compress(out.data(), out.size(), in.data(), in.size(), level_);
    if (ZSTD_isError(size)) throw std::bad_alloc();  // the buffer fits any output, so only memory can fail
    out.resize(size);
    return true;
  }
  void decode(BytesView in, Type, std::span<std::byte> out) const override {
    const std::size_t size = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
    if (ZSTD_isError(size) || size != out.size()) {
      fail(Code::file, "bytes that zstd cannot have made of {}; they are damaged", out.size());
    }
  }

 private:
  int level_;
};

}  // namespace

std::optional<CodecKind> zstd_codec() {
  return plain_codec<Zstd>("zstd", "Zstandard, faster than `gzip` and smaller; only if the build has it.");
}

std::shared_ptr<const Codec> zstd_of_level(int level) { return std::make_shared<Zstd>(level); }

}  // namespace sidestream
