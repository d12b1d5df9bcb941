#include <zstd.h>

#include "sidestream/kit/base/fail.hpp"
#include "storage/codecs/codecs.hpp"

namespace sidestream {

namespace {

constexpr int zstd_level = 1;

CodecFunctions zstd_functions(int level) {
  return {.name = "zstd",
          .encode =
              [level](BytesView in, Type, Bytes& out) {
                out.resize(ZSTD_compressBound(in.size()));
                const std::size_t size = ZSTD_compress(out.data(), out.size(), in.data(), in.size(), level);
                if (ZSTD_isError(size)) throw std::bad_alloc();  // the buffer fits any output, so only memory can fail
                out.resize(size);
                return true;
              },
          .decode =
              [](BytesView in, Type, std::span<std::byte> out) {
                const std::size_t size = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
                if (ZSTD_isError(size) || size != out.size()) {
                  fail(Code::file, "bytes that zstd cannot have made of {}; they are damaged", out.size());
                }
              },
          .packs = true};
}

}  // namespace

std::optional<CodecKind> zstd_codec() {
  return plain_codec("Zstandard, faster than `gzip` and smaller; only if the build has it.",
                     zstd_functions(zstd_level));
}

std::shared_ptr<const Codec> zstd_of_level(int level) { return make_codec(zstd_functions(level)); }

}  // namespace sidestream
