#include <algorithm>
#include <cstdint>

#include "storage/codecs/codecs.hpp"

namespace sidestream {

namespace {

bool shuffle_bytes(BytesView in, Type type, Bytes& out) {
  const std::size_t width = size_of(type), count = in.size() / width;
  out.resize(in.size());
  for (std::size_t b = 0; b < width; ++b) {
    for (std::size_t n = 0; n < count; ++n) out[b * count + n] = in[n * width + b];
  }
  return true;
}

void unshuffle_bytes(BytesView in, Type type, std::span<std::byte> out) {
  const std::size_t width = size_of(type), count = in.size() / width;
  for (std::size_t b = 0; b < width; ++b) {
    for (std::size_t n = 0; n < count; ++n) out[n * width + b] = in[b * count + n];
  }
}

}  // namespace

CodecKind byte_shuffle_codec() {
  return plain_codec("bytes of the same significance next to each other.",
                     {.name = "byte-shuffle", .encode = shuffle_bytes, .decode = unshuffle_bytes});
}

namespace {

/// Transposes the 8 x 8 matrix of bits: Hacker's Delight, 7-3.
std::uint64_t transposed(std::uint64_t x) {
  std::uint64_t t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaull;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000ccccull;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ull;
  return x ^ t ^ (t << 28);
}

bool shuffle_bits(BytesView in, Type type, Bytes& out) {
  const std::size_t width = size_of(type), groups = in.size() / width / 8;
  out.resize(in.size());
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t b = 0; b < width; ++b) {
      std::uint64_t bits = 0;
      for (std::size_t n = 0; n < 8; ++n) bits |= static_cast<std::uint64_t>(in[(8 * g + n) * width + b]) << (8 * n);
      bits = transposed(bits);
      for (std::size_t bit = 0; bit < 8; ++bit) {
        out[(8 * b + bit) * groups + g] = static_cast<std::byte>(bits >> (8 * bit));
      }
    }
  }
  const auto rest = static_cast<std::ptrdiff_t>(8 * groups * width);
  std::copy(in.begin() + rest, in.end(), out.begin() + rest);
  return true;
}

void unshuffle_bits(BytesView in, Type type, std::span<std::byte> out) {
  const std::size_t width = size_of(type), groups = in.size() / width / 8;
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t b = 0; b < width; ++b) {
      std::uint64_t bits = 0;
      for (std::size_t bit = 0; bit < 8; ++bit) {
        bits |= static_cast<std::uint64_t>(in[(8 * b + bit) * groups + g]) << (8 * bit);
      }
      bits = transposed(bits);
      for (std::size_t n = 0; n < 8; ++n) out[(8 * g + n) * width + b] = static_cast<std::byte>(bits >> (8 * n));
    }
  }
  const auto rest = static_cast<std::ptrdiff_t>(8 * groups * width);
  std::copy(in.begin() + rest, in.end(), out.begin() + rest);
}

}  // namespace

CodecKind bit_shuffle_codec() {
  return plain_codec("bits of the same significance next to each other.",
                     {.name = "bit-shuffle", .encode = shuffle_bits, .decode = unshuffle_bits});
}

}  // namespace sidestream
