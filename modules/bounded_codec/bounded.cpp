// A chunk of the codec: its place, a head for each box, then the bits of all boxes (stream-format.md).
//
// 1. The chunk is divided into boxes of points. Values become numbers on a lattice whose step follows from the bound.
// 2. Each point's number is predicted from points that are decoded before it (`walk`, levels.hpp), by rules that are
//    chosen for the box. The difference goes through an adaptive range coder.
// 3. The encoder checks each value against the bound, and stores those that miss it in full.
// 4. decode does the same steps, checks the head, and that all bytes are used; damaged bytes are an Error(file).
// encode returns false if nothing is saved, and the chunk is stored as it is.
#include "bounded_codec/bounded.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "bounded_codec/sides.hpp"
#include "sidestream/kit/base/float_environment.hpp"
#include "sidestream/kit/base/numbers.hpp"

namespace sidestream::bounded {

namespace {

constexpr std::byte version{1};
constexpr std::size_t place_bytes = 33, head_bytes = 8 + 2 + 4 + ruled_levels * 3;

template <class T>
void append(Bytes& out, T value) {
  const BytesView bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// The place as it is stored: what comes before the chunk's first layer does not count.
ChunkPlace stored_place(const ChunkPlace& place) {
  ChunkPlace stored;
  if (place.points[0] == 0) return stored;
  stored.points = {place.points[0], place.points[1], 1};
  stored.components = place.components;
  stored.first = place.first % (place.points[0] * place.points[1] * place.components);
  return stored;
}

/// False if the bytes cannot be those of a place.
bool get_place(BytesView in, ChunkPlace& place) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  std::uint64_t layer = 0;
  if (in.size() < place_bytes || in[0] != version) return false;
  place.points = {load<std::uint64_t>(in.data() + 1), load<std::uint64_t>(in.data() + 9), 1};
  place.components = load<std::uint64_t>(in.data() + 17);
  place.first = load<std::uint64_t>(in.data() + 25);
  if (place.points[1] == 0 || place.components == 0 || place.points[1] > most) return false;
  if (place.points[0] == 0) return place.components == 1 && place.first == 0;
  if (__builtin_mul_overflow(place.points[0], place.points[1], &layer)) return false;
  return !__builtin_mul_overflow(layer, place.components, &layer) && layer <= most && place.first < layer;
}

void put_place(const ChunkPlace& place, Bytes& out) {
  append(out, version);
  for (const std::uint64_t number : {place.points[0], place.points[1], place.components, place.first}) {
    append(out, number);
  }
}

void put_head(const BoxHead& head, Bytes& out) {
  append(out, head.lattice.base);
  append(out, static_cast<std::int16_t>(head.lattice.exponent));
  append(out, static_cast<std::uint32_t>(head.lattice.step));
  for (const LevelRule& rule : head.rules) {
    for (const AxisRule& axis : rule.axes) {
      append(out, static_cast<std::uint8_t>(axis.weight << 1 | (axis.cubic ? 1 : 0)));
    }
  }
}

/// False if no encoder has made these bytes.
bool get_head(BytesView in, BoxHead& head) {
  head.lattice.base = load<double>(in.data());
  head.lattice.exponent = load<std::int16_t>(in.data() + 8);
  head.lattice.step = load<std::uint32_t>(in.data() + 10);
  for (std::size_t n = 0; n < head.rules.size() * 3; ++n) {
    const auto byte = load<std::uint8_t>(in.data() + 14 + n);
    if (byte < 2) return false;
    head.rules[n / 3].axes[n % 3] = {(byte & 1) != 0, static_cast<std::uint8_t>(byte >> 1)};
  }
  return true;
}

[[noreturn]] void fail_damaged(std::size_t bytes) {
  fail(Code::file, "bytes that the codec 'bounded' cannot have made of {}; they are damaged", bytes);
}

/// The largest error that is allowed in these values.
template <class Real>
double bound_for(BytesView in, const Bound& bound) {
  if (!bound.of_range) return bound.most;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t n = 0; n < in.size() / sizeof(Real); ++n) {
    const auto value = static_cast<double>(load<Real>(in.data() + n * sizeof(Real)));
    const bool finite = std::fabs(value) <= std::numeric_limits<double>::max();
    low = finite && value < low ? value : low;
    high = finite && value > high ? value : high;
  }
  return low <= high ? bound.most * (high - low) : 0;
}

/// The first finite value of a box, which is the base of its lattice.
template <class Real>
double base_of(const std::byte* values, const PointBox& box) {
  for (std::uint64_t n = 0; n < box.points(); ++n) {
    const auto value = static_cast<double>(load<Real>(values + n * box.step * sizeof(Real)));
    if (std::fabs(value) <= std::numeric_limits<double>::max()) return value;
  }
  return 0;
}

template <class Real>
void number_points(const std::byte* values, const PointBox& box, const Lattice& lattice, BoxMemory& memory) {
  memory.resize(box.points());
  const Scale<Real> scale(lattice);
  for (std::uint64_t n = 0; n < box.points(); ++n) {
    std::int64_t& number = memory.numbers[n];
    if (!scale.number(load<Real>(values + n * box.step * sizeof(Real)), number)) number = no_number;
  }
}

template <class Real>
bool encode_as(BytesView in, const ChunkPlace& where, const Bound& wanted, Bytes& out) {
  const double bound = bound_for<Real>(in, wanted);
  const ChunkPlace place = stored_place(where);
  const auto models = std::make_unique<Models>();
  const auto room = std::make_unique_for_overwrite<std::byte[]>(in.size() + Encoder::most_of_value);
  Encoder encoder({room.get(), in.size() + Encoder::most_of_value});
  BoxMemory memory;
  out.clear();
  put_place(place, out);
  for (const PointBox& box : boxes_of(place, in.size() / sizeof(Real))) {
    const std::byte* const values = in.data() + box.element * sizeof(Real);
    BoxHead head;
    // Constant values have no range; they are their base, and any lattice will do.
    if (!make_lattice(bound > 0 ? bound : 1, base_of<Real>(values, box), head.lattice)) return false;
    number_points<Real>(values, box, head.lattice, memory);
    choose_rules(box.extents, memory, head);
    put_head(head, out);
    EncoderSide<Real> side(values, box, head.lattice, bound, memory, *models, encoder);
    walk(box, head, memory, *models, side);
    if (encoder.is_full() || out.size() >= in.size()) return false;
  }
  const std::size_t bytes = encoder.finish();
  out.insert(out.end(), room.get(), room.get() + bytes);
  return out.size() < in.size();
}

template <class Real>
void decode_as(BytesView in, std::span<std::byte> out) {
  ChunkPlace place;
  if (!get_place(in, place)) fail_damaged(out.size());
  BytesView heads = in.subspan(place_bytes);
  const std::vector<PointBox> boxes = boxes_of(place, out.size() / sizeof(Real));
  if (heads.size() / head_bytes < boxes.size()) fail_damaged(out.size());
  Decoder decoder(heads.subspan(boxes.size() * head_bytes));
  const auto models = std::make_unique<Models>();
  BoxMemory memory;
  for (const PointBox& box : boxes) {
    BoxHead head;
    if (!get_head(heads, head)) fail_damaged(out.size());
    heads = heads.subspan(head_bytes);
    memory.resize(box.points());
    DecoderSide<Real> side(out.data() + box.element * sizeof(Real), box, head.lattice, memory, *models, decoder);
    walk(box, head, memory, *models, side);
  }
  if (!decoder.is_at_end()) fail_damaged(out.size());
}

class Bounded final : public Codec {
 public:
  explicit Bounded(const Bound& bound) : bound_(bound) {}
  std::string name() const override { return "bounded"; }
  bool lossless() const override { return false; }
  bool packs() const override { return true; }
  bool takes(Type type) const override { return type == Type::float32 || type == Type::float64; }
  bool encode(BytesView in, Type type, Bytes& out) const override { return encode_at(in, type, {}, out); }
  bool encode_at(BytesView in, Type type, const ChunkPlace& place, Bytes& out) const override {
    return bounded::encode(in, type, place, bound_, out);
  }
  void decode(BytesView in, Type type, std::span<std::byte> out) const override { bounded::decode(in, type, out); }

 private:
  Bound bound_;
};

}  // namespace

Bound bound_of(const std::string& argument) {
  constexpr std::string_view range = "range:";
  Bound bound;
  std::string_view number = argument;
  if (number.starts_with(range)) {
    bound.of_range = true;
    number.remove_prefix(range.size());
  }
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, bound.most);
  const bool is_number = error == std::errc() && stop == end && std::isfinite(bound.most) && bound.most > 0;
  if (!is_number || (bound.of_range && bound.most >= 1)) {
    fail(
        Code::configuration,
        "found 'bounded:{}', expected the largest error that is allowed, a number above 0, or 'range:' and its part of "
        "the range, below 1, as in 'bounded:1e-3' and 'bounded:range:1e-4'; write such a number",
        argument);
  }
  return bound;
}

bool encode(BytesView in, Type type, const ChunkPlace& place, const Bound& bound, Bytes& out) {
  const FloatEnvironment ours;
  return type == Type::float32 ? encode_as<float>(in, place, bound, out) : encode_as<double>(in, place, bound, out);
}

void decode(BytesView in, Type type, std::span<std::byte> out) {
  const FloatEnvironment ours;
  return type == Type::float32 ? decode_as<float>(in, out) : decode_as<double>(in, out);
}

CodecKind bounded_codec() {
  return {"bounded",
          "packs reals, predicted from others around them, with an error of at most BOUND (`bounded:1e-3`), or of a "
          "part of the range of a chunk (`bounded:range:1e-4`), checked for each value.",
          "BOUND", [](const std::string& argument) { return std::make_shared<Bounded>(bound_of(argument)); }};
}

}  // namespace sidestream::bounded
