#include <cstdint>

#include "storage/codecs/codecs.hpp"
#include "storage/codecs/reduced_reals.hpp"

namespace sidestream {

namespace {

template <class Real>
bool encode_half(BytesView in, Bytes& out) {
  FiniteExtremes extremes;
  extremes.add<Real>(in);
  if (extremes.largest() > largest_half) return false;
  out.resize(in.size() / sizeof(Real) * 2);
  for_each_real<Real>(in, out.data(), [](Real value) { return half_bits(static_cast<double>(value)); });
  return true;
}

template <class Real>
void decode_half(BytesView in, std::span<std::byte> out) {
  for (std::size_t n = 0; n < in.size() / 2; ++n) {
    std::uint16_t bits;
    std::memcpy(&bits, in.data() + 2 * n, sizeof bits);
    const auto value = static_cast<Real>(from_half_bits(bits));
    std::memcpy(out.data() + n * sizeof(Real), &value, sizeof value);
  }
}

}  // namespace

CodecKind half_codec() {
  return plain_codec(
      "16-bit reals (IEEE binary16), with an error of at most |x| / 2048 or 2^-25; chunks with numbers beyond 65504 "
      "stay unchanged.",
      {.name = "half",
       .encode =
           [](BytesView in, Type type, Bytes& out) {
             return type == Type::float32 ? encode_half<float>(in, out) : encode_half<double>(in, out);
           },
       .decode =
           [](BytesView in, Type type, std::span<std::byte> out) {
             return type == Type::float32 ? decode_half<float>(in, out) : decode_half<double>(in, out);
           },
       .lossless = false,
       .takes = is_real,
       .after = Type::uint16});
}

}  // namespace sidestream
