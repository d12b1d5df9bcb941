#include "bounded_codec/heads.hpp"

#include <cmath>

#include "bounded_codec/powers.hpp"
#include "bounded_codec/sides.hpp"

namespace sidestream::bounded {

namespace {

template <class T>
void append(Bytes& out, T value) {
  const BytesView bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// False if the lattice cannot be one of logarithms.
bool is_of_powers(const Lattice& lattice) {
  constexpr auto most = static_cast<double>(most_number);
  return lattice.exponent >= least_power && lattice.exponent <= 0 && std::fabs(lattice.base) <= most &&
         std::trunc(lattice.base) == lattice.base;
}

}  // namespace

ChunkPlace stored_place(const ChunkPlace& place) {
  ChunkPlace stored;
  if (place.points[0] == 0) return stored;
  stored.points = {place.points[0], place.points[1], 1};
  stored.components = place.components;
  stored.first = place.first % (place.points[0] * place.points[1] * place.components);
  return stored;
}

void put_place(Version version, const ChunkPlace& place, Bytes& out) {
  append(out, version);
  for (const std::uint64_t number : {place.points[0], place.points[1], place.components, place.first}) {
    append(out, number);
  }
}

bool get_place(BytesView in, Version& version, ChunkPlace& place) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  std::uint64_t layer = 0;
  if (in.size() < place_bytes) return false;
  const auto number = std::to_integer<std::uint8_t>(in[0]);
  version = static_cast<Version>(number);
  if (number < 1 || number > 2) return false;
  place.points = {load<std::uint64_t>(in.data() + 1), load<std::uint64_t>(in.data() + 9), 1};
  place.components = load<std::uint64_t>(in.data() + 17);
  place.first = load<std::uint64_t>(in.data() + 25);
  if (place.points[1] == 0 || place.components == 0 || place.points[1] > most) return false;
  if (place.points[0] == 0) return place.components == 1 && place.first == 0;
  if (__builtin_mul_overflow(place.points[0], place.points[1], &layer)) return false;
  return !__builtin_mul_overflow(layer, place.components, &layer) && layer <= most && place.first < layer;
}

void put_head(Version version, const BoxHead& head, Bytes& out) {
  append(out, head.lattice.base);
  append(out, static_cast<std::int16_t>(head.lattice.exponent));
  append(out, static_cast<std::uint32_t>(head.lattice.step));
  for (const LevelRule& rule : head.rules) {
    for (const AxisRule& axis : rule.axes) {
      append(out, static_cast<std::uint8_t>(axis.weight << 1 | (axis.cubic ? 1 : 0)));
    }
  }
  if (version == Version::powers) append(out, head.states.bits());
}

bool get_head(Version version, BytesView in, BoxHead& head) {
  head.lattice.base = load<double>(in.data());
  head.lattice.exponent = load<std::int16_t>(in.data() + 8);
  head.lattice.step = load<std::uint32_t>(in.data() + 10);
  for (std::size_t n = 0; n < head.rules.size() * 3; ++n) {
    const auto byte = load<std::uint8_t>(in.data() + 14 + n);
    if (byte < 2) return false;
    head.rules[n / 3].axes[n % 3] = {(byte & 1) != 0, static_cast<std::uint8_t>(byte >> 1)};
  }
  if (version == Version::linear) return true;
  return is_of_powers(head.lattice) && BoxStates::from(load<std::uint8_t>(in.data() + 26), head.states);
}

}  // namespace sidestream::bounded
