// A chunk of the codec: its place, a head for each box, then the bits of all boxes (stream-format.md).
//
// 1. The chunk is divided into boxes of points. Values become numbers on a lattice whose step follows from the bound;
// for
//    bounds of each value their logarithms do, and signs and zeros are coded first (states.hpp).
// 2. Each point's number is predicted from points that are decoded before it (`walk`, levels.hpp), by rules that are
//    chosen for the box. The difference goes through an adaptive range coder.
// 3. The encoder checks each value against the bound, and stores those that miss it in full.
// 4. decode does the same steps, checks the head, and that all bytes are used; damaged bytes are an Error(file).
// encode returns false if nothing is saved, and the chunk is stored as it is.
#include "bounded_codec/bounded.hpp"

#include <limits>
#include <memory>

#include "bounded_codec/heads.hpp"
#include "bounded_codec/powers.hpp"
#include "bounded_codec/sides.hpp"
#include "sidestream/kit/base/float_environment.hpp"

namespace sidestream::bounded {

namespace {

[[noreturn]] void fail_damaged(std::size_t bytes) {
  fail(Code::file, "bytes that the codec 'bounded' cannot have made of {}; they are damaged", bytes);
}

/// The largest error that is allowed in these values.
template <class Real>
double bound_for(BytesView in, const Bound& bound) {
  if (bound.relation != Relation::range) return bound.most;
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

/// The number of the logarithm of the first finite value that is not 0.
template <class Real>
double power_base_of(const std::byte* values, const PointBox& box, const Lattice& lattice) {
  const PowerScale<Real> scale(lattice);
  for (std::uint64_t n = 0; n < box.points(); ++n) {
    std::int64_t number = 0;
    if (scale.number(load<Real>(values + n * box.step * sizeof(Real)), number)) return static_cast<double>(number);
  }
  return 0;
}

template <class Real>
void find_states(const std::byte* values, const PointBox& box, BoxMemory& memory, BoxHead& head) {
  memory.states.resize(box.points());
  for (std::uint64_t n = 0; n < box.points(); ++n) {
    memory.states[n] = state_of(load<Real>(values + n * box.step * sizeof(Real)));
  }
  head.states = summary_of(memory.states);
}

template <class Real, class Scale>
void number_points(const std::byte* values, const PointBox& box, const Lattice& lattice, BoxMemory& memory) {
  memory.resize(box.points());
  const Scale scale(lattice);
  for (std::uint64_t n = 0; n < box.points(); ++n) {
    std::int64_t& number = memory.numbers[n];
    if (!scale.number(load<Real>(values + n * box.step * sizeof(Real)), number)) number = no_number;
  }
}

/// A chunk that is being encoded, or decoded: what is kept from box to box.
template <class Coder>
struct Chunk {
  Coder coder;
  BoxMemory memory{};
  std::unique_ptr<Models> models = std::make_unique<Models>();
  StateModels state_models{};
};

/// Sets the lattice and numbers of a box. Returns false if there is no lattice for the bound.
template <class Real, class Scale>
bool find_numbers(const std::byte* values, const PointBox& box, double bound, BoxMemory& memory, BoxHead& head) {
  if constexpr (Scale::has_states) {
    if (!make_power_lattice<Real>(bound, head.lattice)) return false;
    head.lattice.base = power_base_of<Real>(values, box, head.lattice);
    find_states<Real>(values, box, memory, head);
  } else {
    // Constant values have no range; they are their base, and any lattice will do.
    if (!make_lattice(bound > 0 ? bound : 1, base_of<Real>(values, box), head.lattice)) return false;
  }
  number_points<Real, Scale>(values, box, head.lattice, memory);
  return true;
}

template <class Real, class Scale>
bool encode_as(Version version, BytesView in, const ChunkPlace& where, double bound, Bytes& out) {
  const ChunkPlace place = stored_place(where);
  const std::size_t most = in.size() + EncoderSide<Real, Scale>::most_line_bytes;
  const auto room = std::make_unique_for_overwrite<std::byte[]>(most);
  Chunk<Encoder> chunk{Encoder({room.get(), most})};
  out.clear();
  put_place(version, place, out);
  for (const PointBox& box : boxes_of(place, in.size() / sizeof(Real))) {
    const std::byte* const values = in.data() + box.element * sizeof(Real);
    BoxHead head;
    if (!find_numbers<Real, Scale>(values, box, bound, chunk.memory, head)) return false;
    choose_rules(box.extents, chunk.memory, head);
    put_head(version, head, out);
    if (Scale::has_states) {
      put_states(box.extents, head.states, chunk.memory.states, chunk.state_models, chunk.coder);
    }
    EncoderSide<Real, Scale> side(values, box, head.lattice, bound, chunk.memory, *chunk.models, chunk.coder);
    walk(box, head, chunk.memory, side);
    if (chunk.coder.lacks(side.most_line_bytes) || out.size() >= in.size()) return false;
  }
  const BytesView bits = chunk.coder.finish();
  out.insert(out.end(), bits.begin(), bits.end());
  return out.size() < in.size();
}

template <class Real>
bool encode_as(BytesView in, const ChunkPlace& place, const Bound& bound, Bytes& out) {
  if (bound.relation == Relation::each) {
    return encode_as<Real, PowerScale<Real>>(Version::powers, in, place, bound.most, out);
  }
  return encode_as<Real, Scale<Real>>(Version::linear, in, place, bound_for<Real>(in, bound), out);
}

/// `in`: what comes after the place.
template <class Real, class Scale>
void decode_as(Version version, const ChunkPlace& place, BytesView in, std::span<std::byte> out) {
  const std::vector<PointBox> boxes = boxes_of(place, out.size() / sizeof(Real));
  const std::size_t head_size = head_bytes(version);
  if (in.size() / head_size < boxes.size()) fail_damaged(out.size());
  Chunk<Decoder> chunk{Decoder(in.subspan(boxes.size() * head_size))};
  for (const PointBox& box : boxes) {
    BoxHead head;
    if (!get_head(version, in, head)) fail_damaged(out.size());
    in = in.subspan(head_size);
    chunk.memory.resize(box.points());
    if (Scale::has_states) {
      get_states(box.extents, head.states, chunk.memory.states, chunk.state_models, chunk.coder);
    }
    std::byte* const values = out.data() + box.element * sizeof(Real);
    DecoderSide<Real, Scale> side(values, box, head.lattice, chunk.memory, *chunk.models, chunk.coder);
    walk(box, head, chunk.memory, side);
  }
  if (!chunk.coder.is_at_end()) fail_damaged(out.size());
}

template <class Real>
void decode_as(BytesView in, std::span<std::byte> out) {
  ChunkPlace place;
  Version version{};
  if (!get_place(in, version, place)) fail_damaged(out.size());
  in = in.subspan(place_bytes);
  if (version == Version::powers) return decode_as<Real, PowerScale<Real>>(version, place, in, out);
  decode_as<Real, Scale<Real>>(version, place, in, out);
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

bool encode(BytesView in, Type type, const ChunkPlace& place, const Bound& bound, Bytes& out) {
  const FloatEnvironment ours;
  return type == Type::float32 ? encode_as<float>(in, place, bound, out) : encode_as<double>(in, place, bound, out);
}

void decode(BytesView in, Type type, std::span<std::byte> out) {
  const FloatEnvironment ours;
  return type == Type::float32 ? decode_as<float>(in, out) : decode_as<double>(in, out);
}

CodecKind bounded_codec() {
  return {
      "bounded",
      "packs reals, predicted from others around them, with an error of at most BOUND (`bounded:1e-3`), or of a "
      "part of the range of a chunk (`bounded:range:1e-4`), or of each value (`bounded:each:1e-3`), checked for each "
      "value.",
      "BOUND", [](const std::string& argument) { return std::make_shared<Bounded>(bound_of(argument)); }};
}

}  // namespace sidestream::bounded
