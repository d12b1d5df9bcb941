#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "storage/codecs/codecs.hpp"

namespace sidestream {

namespace {

constexpr double largest = 65504;
constexpr int lowest_exponent = -14, fraction_bits = 10;

/// Rounds to nearest, ties to even. `value` is infinite, not a number, or finite and at most `largest`.
std::uint16_t to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | 0x7c00);
  const double size = std::fabs(value);
  const int exponent = size == 0 ? lowest_exponent : std::max(std::ilogb(size), lowest_exponent);
  // Number of units in the last place, exact except for the rounding. A carry into the exponent needs no extra step.
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, fraction_bits - exponent)));
  const auto biased = static_cast<std::uint32_t>(exponent - lowest_exponent) << fraction_bits;
  return static_cast<std::uint16_t>(sign | (biased + units));
}

double from_half(std::uint16_t bits) {
  const int exponent = bits >> fraction_bits & 0x1f;
  const int fraction = bits & 0x3ff;
  double size = exponent == 0x1f ? (fraction ? std::nan("") : HUGE_VAL)
                : exponent == 0  ? std::ldexp(fraction, lowest_exponent - fraction_bits)
                                 : std::ldexp(fraction | 0x400, exponent - 1 + lowest_exponent - fraction_bits);
  return std::copysign(size, bits & 0x8000 ? -1.0 : 1.0);
}

template <class Real>
bool encode_half(BytesView in, Bytes& out) {
  out.resize(in.size() / sizeof(Real) * 2);
  for (std::size_t n = 0; n < in.size() / sizeof(Real); ++n) {
    Real value;
    std::memcpy(&value, in.data() + n * sizeof(Real), sizeof value);
    if (std::isfinite(value) && std::fabs(value) > largest) return false;
    const std::uint16_t bits = to_half(static_cast<double>(value));
    std::memcpy(out.data() + 2 * n, &bits, sizeof bits);
  }
  return true;
}

template <class Real>
void decode_half(BytesView in, std::span<std::byte> out) {
  for (std::size_t n = 0; n < in.size() / 2; ++n) {
    std::uint16_t bits;
    std::memcpy(&bits, in.data() + 2 * n, sizeof bits);
    const auto value = static_cast<Real>(from_half(bits));
    std::memcpy(out.data() + n * sizeof(Real), &value, sizeof value);
  }
}

class Half final : public Codec {
 public:
  std::string name() const override { return "half"; }
  bool lossless() const override { return false; }
  bool takes(Type type) const override { return type == Type::float32 || type == Type::float64; }
  Type after(Type) const override { return Type::uint16; }
  bool encode(BytesView in, Type type, Bytes& out) const override {
    return type == Type::float32 ? encode_half<float>(in, out) : encode_half<double>(in, out);
  }
  void decode(BytesView in, Type type, std::span<std::byte> out) const override {
    return type == Type::float32 ? decode_half<float>(in, out) : decode_half<double>(in, out);
  }
};

}  // namespace

CodecKind half_codec() {
  return plain_codec<Half>(
      "half",
      "16-bit reals (IEEE binary16), with an error of at most |x| / 2048 or 2^-25; chunks with numbers beyond 65504 "
      "stay unchanged.");
}

}  // namespace sidestream
