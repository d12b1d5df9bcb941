// Codecs that round reals, for a lossless codec after them. Readers decode ordinary reals.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sidestream/kit/storage/codecs/precision.hpp"
#include "storage/codecs/codecs.hpp"
#include "storage/codecs/reduced_reals.hpp"

namespace sidestream {

namespace {

/// Rounds every value of a chunk. `rounding` makes the function that rounds one value, from a precision. The elements
/// stay reals of the same type.
template <class Rounding>
CodecFunctions rounding_functions(const char* name, Rounding rounding, std::function<bool(Type)> takes) {
  return {.name = name,
          .encode =
              [rounding](BytesView in, Type type, Bytes& out) {
                out.resize(in.size());
                type == Type::float32 ? for_each_real<float>(in, out.data(), rounding)
                                      : for_each_real<double>(in, out.data(), rounding);
                return true;
              },
          .decode = [](BytesView in, Type, std::span<std::byte> out) { std::copy(in.begin(), in.end(), out.begin()); },
          .lossless = false,
          .takes = std::move(takes)};
}

CodecFunctions bit_rounding(const Precision& precision) {
  const auto takes = [bits = precision.bits](Type type) {
    return type == Type::float64 || (type == Type::float32 && bits < fraction_bits_of<float>);
  };
  return rounding_functions(
      "bit-round", [bits = precision.bits](auto value) { return bit_rounded(value, bits); }, takes);
}

CodecFunctions rounding(const Precision& precision) {
  return rounding_functions(
      "round", [unit = rounding_unit(precision.bound)](auto value) { return rounded_to(value, unit); }, is_real);
}

bool encode_single(BytesView in, Type, Bytes& out) {
  FiniteExtremes extremes;
  extremes.add<double>(in);
  if (extremes.largest() > static_cast<double>(std::numeric_limits<float>::max())) return false;
  out.resize(in.size() / 2);
  for_each_real<double>(in, out.data(), [](double value) { return static_cast<float>(value); });
  return true;
}

void decode_single(BytesView in, Type, std::span<std::byte> out) {
  for_each_real<float>(in, out.data(), [](float value) { return static_cast<double>(value); });
}

CodecKind rounding_codec(const char* name, const char* argument, CodecFunctions (*made)(const Precision&),
                         std::string text) {
  CodecKind kind;
  kind.name = name;
  kind.argument = argument;
  kind.text = std::move(text);
  kind.create = [name, made](const std::string& given) {
    // Bits are checked for the wider type; a codec refuses the narrower type by itself.
    return make_codec(made(precision_named(fmt::format("{}:{}", name, given), Type::float64)));
  };
  return kind;
}

}  // namespace

CodecKind bit_round_codec() {
  return rounding_codec("bit-round", "BITS", bit_rounding,
                        "keeps so many bits of the fraction of reals, rounded to nearest even, for a codec "
                        "that packs behind it; wrong by at most |x| / 2^(BITS + 1).");
}

CodecKind round_codec() {
  return rounding_codec("round", "BOUND", rounding,
                        "rounds reals to multiples of a power of two, for a codec that packs behind it; wrong by "
                        "at most BOUND.");
}

CodecKind single_codec() {
  return plain_codec("float32 instead of float64; chunks with numbers beyond 3.4e38 stay unchanged.",
                     {.name = "single",
                      .encode = encode_single,
                      .decode = decode_single,
                      .lossless = false,
                      .takes = [](Type type) { return type == Type::float64; },
                      .after = Type::float32});
}

}  // namespace sidestream
