// ZSTD_c_literalCompressionMode is needed to code literals at the fast levels. zstd calls it experimental: in a library
// without it, lengths take a few more bytes. The frames are ordinary ones.
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include <memory>
#include <new>

#include "amr_codec/values/packer.hpp"

namespace sidestream::trees {

namespace {

/// A step between searches so large that zstd finds no repetition. Only Huffman coding remains.
constexpr int no_repetitions = -5000;

struct Free {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};

}  // namespace

struct Packer::State {
  std::unique_ptr<ZSTD_CCtx, Free> context{ZSTD_createCCtx()};
};

Packer::Packer() = default;
Packer::~Packer() = default;

std::size_t Packer::compress(std::span<const std::uint8_t> in, int level, std::span<std::byte> target) {
  if (!state_) state_ = std::make_unique<State>();
  ZSTD_CCtx* const context = state_->context.get();
  if (context == nullptr) throw std::bad_alloc();
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level == 0 ? no_repetitions : level);
  if (level == 0) ZSTD_CCtx_setParameter(context, ZSTD_c_literalCompressionMode, ZSTD_lcm_huffman);
  const std::size_t size = ZSTD_compress2(context, target.data(), target.size(), in.data(), in.size());
  return ZSTD_isError(size) ? 0 : size;  // a lack of room means that nothing is saved
}

Packed compressor() noexcept { return Packed::zstd; }

bool decompress_zstd(BytesView in, std::span<std::uint8_t> out) {
  const std::size_t size = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
  return !ZSTD_isError(size) && size == out.size();
}

}  // namespace sidestream::trees
