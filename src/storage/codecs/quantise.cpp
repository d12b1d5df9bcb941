#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "storage/codecs/codecs.hpp"

namespace sidestream {

namespace {

/// Header of a chunk: value = low + step * number.
struct Scale {
  double low = 0, step = 0;
};

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class Real, class Number>
bool encode_as(BytesView in, Bytes& out) {
  const std::size_t count = in.size() / sizeof(Real);
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (std::size_t n = 0; n < count; ++n) {
    const auto value = static_cast<double>(load<Real>(in.data() + n * sizeof(Real)));
    if (!std::isfinite(value)) return false;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  const auto most = static_cast<double>(static_cast<Number>(~Number{0}));
  const Scale scale{low, (high - low) / most};
  if (!std::isfinite(scale.step)) return false;
  // The largest error allowed: half a step plus the rounding of a Real.
  const double bound = 0.5 * scale.step * (1 + 1e-6) +
                       std::ldexp(std::max(std::fabs(low), std::fabs(high)), sizeof(Real) == 4 ? -23 : -51);
  out.resize(sizeof scale + count * sizeof(Number));
  std::memcpy(out.data(), &scale, sizeof scale);
  for (std::size_t n = 0; n < count; ++n) {
    const auto value = static_cast<double>(load<Real>(in.data() + n * sizeof(Real)));
    const double level = scale.step > 0 ? std::nearbyint((value - low) / scale.step) : 0;
    const auto number = static_cast<Number>(std::clamp(level, 0.0, most));
    const auto back = static_cast<Real>(scale.low + scale.step * static_cast<double>(number));
    if (!(std::fabs(static_cast<double>(back) - value) <= bound)) return false;
    std::memcpy(out.data() + sizeof scale + n * sizeof(Number), &number, sizeof number);
  }
  return true;
}

template <class Real, class Number>
void decode_as(BytesView in, std::span<std::byte> out) {
  const auto scale = load<Scale>(in.data());
  for (std::size_t n = 0; n < out.size() / sizeof(Real); ++n) {
    const auto number = load<Number>(in.data() + sizeof scale + n * sizeof(Number));
    const auto value = static_cast<Real>(scale.low + scale.step * static_cast<double>(number));
    std::memcpy(out.data() + n * sizeof(Real), &value, sizeof value);
  }
}

template <class Number>
CodecKind kind_of() {
  const std::size_t bytes = sizeof(Number);
  return plain_codec(
      fmt::format(
          "reals as whole numbers of {} byte{} between the lowest and the highest of a chunk, wrong by at most half "
          "a step of 1/{}, checked; chunks with NaN or infinities stay as they are.",
          bytes, bytes == 1 ? "" : "s", static_cast<std::uint64_t>(static_cast<Number>(~Number{0}))),
      {.name = fmt::format("quantise-{}", bytes),
       .encode =
           [](BytesView in, Type type, Bytes& out) {
             return type == Type::float32 ? encode_as<float, Number>(in, out) : encode_as<double, Number>(in, out);
           },
       .decode =
           [](BytesView in, Type type, std::span<std::byte> out) {
             return type == Type::float32 ? decode_as<float, Number>(in, out) : decode_as<double, Number>(in, out);
           },
       .lossless = false,
       .takes = is_real,
       .after = bytes == 1   ? Type::uint8
                : bytes == 2 ? Type::uint16
                             : Type::uint32,
       .header = sizeof(Scale)});
}

}  // namespace

CodecKind quantise_codec(int bytes) {
  if (bytes == 1) return kind_of<std::uint8_t>();
  if (bytes == 2) return kind_of<std::uint16_t>();
  return kind_of<std::uint32_t>();
}

}  // namespace sidestream
