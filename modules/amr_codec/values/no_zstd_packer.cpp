#include <zlib.h>

#include <algorithm>

#include "amr_codec/values/packer.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::trees {

namespace {

/// A deflate stream of zlib.
class Deflate {
 public:
  explicit Deflate(int level) {
    const int strategy = level == 0 ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY;
    if (::deflateInit2(&stream_, std::clamp(level, 1, 9), Z_DEFLATED, 15, 9, strategy) != Z_OK) throw std::bad_alloc();
  }
  ~Deflate() { ::deflateEnd(&stream_); }
  Deflate(const Deflate&) = delete;
  Deflate& operator=(const Deflate&) = delete;
  /// Compresses `in` into `target`. Returns 0 if there is no room. Passes bytes in pieces, because zlib counts them in
  /// 32 bits.
  std::size_t run(std::span<const std::uint8_t> in, std::span<std::byte> target) {
    constexpr std::size_t most = std::size_t{1} << 30;
    stream_.next_in = const_cast<Bytef*>(in.data());
    stream_.next_out = reinterpret_cast<Bytef*>(target.data());
    std::size_t in_left = in.size(), out_left = target.size();
    for (;;) {
      const std::size_t in_now = std::min(most, in_left), out_now = std::min(most, out_left);
      stream_.avail_in = static_cast<uInt>(in_now);
      stream_.avail_out = static_cast<uInt>(out_now);
      const int outcome = ::deflate(&stream_, in_now == in_left ? Z_FINISH : Z_NO_FLUSH);
      in_left -= in_now - stream_.avail_in;
      out_left -= out_now - stream_.avail_out;
      if (outcome == Z_STREAM_END) return target.size() - out_left;
      if (outcome != Z_OK || out_left == 0) return 0;
    }
  }

 private:
  z_stream stream_{};
};

}  // namespace

struct Packer::State {};

Packer::Packer() = default;
Packer::~Packer() = default;

std::size_t Packer::compress(std::span<const std::uint8_t> in, int level, std::span<std::byte> target) {
  return Deflate(level).run(in, target);
}

Packed compressor() noexcept { return Packed::zlib; }

bool decompress_zstd(BytesView, std::span<std::uint8_t>) {
  fail(Code::file,
       "a stream of a tree's values went through zstd, which this build is without; build Sidestream with zstd");
}

}  // namespace sidestream::trees
