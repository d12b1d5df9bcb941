// Codecs that round reals, for lossless ones behind them: what readers decode are reals as any others.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "storage/codecs/codecs.hpp"
#include "storage/codecs/precision.hpp"
#include "storage/codecs/reduced_reals.hpp"

namespace sidestream {

namespace {

bool is_real(Type type) { return type == Type::float32 || type == Type::float64; }

/// The elements stay reals of the same type.
class Rounding : public Codec {
 public:
  explicit Rounding(Precision precision) : precision_(std::move(precision)) {}
  bool lossless() const override { return false; }
  void decode(BytesView in, Type, std::span<std::byte> out) const override {
    std::copy(in.begin(), in.end(), out.begin());
  }

 protected:
  Precision precision_;
};

class BitRound final : public Rounding {
 public:
  using Rounding::Rounding;
  std::string name() const override { return "bit-round"; }
  bool takes(Type type) const override {
    return type == Type::float64 || (type == Type::float32 && precision_.bits < fraction_bits_of<float>);
  }
  bool encode(BytesView in, Type type, Bytes& out) const override {
    out.resize(in.size());
    const auto rounded = [bits = precision_.bits](auto value) { return bit_rounded(value, bits); };
    type == Type::float32 ? for_each_real<float>(in, out.data(), rounded)
                          : for_each_real<double>(in, out.data(), rounded);
    return true;
  }
};

class Round final : public Rounding {
 public:
  using Rounding::Rounding;
  std::string name() const override { return "round"; }
  bool takes(Type type) const override { return is_real(type); }
  bool encode(BytesView in, Type type, Bytes& out) const override {
    out.resize(in.size());
    const auto rounded = [unit = rounding_unit(precision_.bound)](auto value) { return rounded_to(value, unit); };
    type == Type::float32 ? for_each_real<float>(in, out.data(), rounded)
                          : for_each_real<double>(in, out.data(), rounded);
    return true;
  }
};

class Single final : public Codec {
 public:
  std::string name() const override { return "single"; }
  bool lossless() const override { return false; }
  bool takes(Type type) const override { return type == Type::float64; }
  Type after(Type) const override { return Type::float32; }
  bool encode(BytesView in, Type, Bytes& out) const override {
    FiniteExtremes extremes;
    extremes.add<double>(in);
    if (extremes.largest() > static_cast<double>(std::numeric_limits<float>::max())) return false;
    out.resize(in.size() / 2);
    for_each_real<double>(in, out.data(), [](double value) { return static_cast<float>(value); });
    return true;
  }
  void decode(BytesView in, Type, std::span<std::byte> out) const override {
    for_each_real<float>(in, out.data(), [](float value) { return static_cast<double>(value); });
  }
};

template <class Made>
CodecKind rounding_codec(const char* name, const char* argument, std::string text) {
  CodecKind kind;
  kind.name = name;
  kind.argument = argument;
  kind.text = std::move(text);
  kind.create = [name](const std::string& given) {
    // Bits are counted for the wider type; a codec refuses the narrower one by itself.
    return std::make_shared<Made>(precision_named(fmt::format("{}:{}", name, given), Type::float64));
  };
  return kind;
}

}  // namespace

CodecKind bit_round_codec() {
  return rounding_codec<BitRound>("bit-round", "BITS",
                                  "keeps so many bits of the fraction of reals, rounded to nearest even, for a codec "
                                  "that packs behind it; wrong by at most |x| / 2^(BITS + 1).");
}

CodecKind round_codec() {
  return rounding_codec<Round>(
      "round", "BOUND",
      "rounds reals to multiples of a power of two, for a codec that packs behind it; wrong by "
      "at most BOUND.");
}

CodecKind single_codec() {
  return plain_codec<Single>("single", "float32 instead of float64; chunks with numbers beyond 3.4e38 stay unchanged.");
}

}  // namespace sidestream
