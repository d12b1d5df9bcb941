#include "storage/trees/lengths.hpp"

#include <algorithm>
#include <cstring>

#include "storage/trees/packer.hpp"
#include "storage/trees/stream_parts.hpp"

namespace sidestream::trees {

static_assert(length_lists >= bit_slack);

namespace {

constexpr std::size_t size_bytes = 8;
/// Of lists that take so little of what they took, some may repeat itself: worth a second try.
constexpr std::size_t few = 6;
constexpr int repeating_level = 3;

unsigned low_bits(unsigned length) noexcept { return length - (length != 0); }

void pack_list(std::span<const std::uint8_t> list, Bytes& out) {
  const std::size_t start = out.size();
  pack(list, 0, out);
  const std::size_t size = out.size() - start;
  if (size * few > list.size()) return;
  Bytes other;
  pack(list, repeating_level, other);
  if (other.size() >= size) return;
  out.resize(start);
  out.insert(out.end(), other.begin(), other.end());
}

std::uint8_t* room_for_bits(Bytes& out, std::size_t bytes) {
  const std::size_t start = out.size();
  out.resize(start + size_bytes + bytes + bit_slack);
  return reinterpret_cast<std::uint8_t*>(out.data() + start + size_bytes);
}

}  // namespace

LengthWriter::LengthWriter(std::size_t numbers, std::size_t size, const LengthSteps& steps, Bytes& out)
    : chooser_(steps), out_(out), start_(out.size() + size_bytes), writer_(room_for_bits(out, numbers * size)) {
  for (std::size_t n = 0; n < length_lists; ++n) {
    lists_[n].reset(new std::uint8_t[numbers]);
    ends_[n] = lists_[n].get();
  }
}

template <class W>
void LengthWriter::put(const TileSources& tile, const std::array<W, tile_groups>& numbers) noexcept {
  const auto put_bits = [this](W number, unsigned length) {
    const unsigned low = low_bits(length);
    writer_.put(number ^ static_cast<W>(W{length != 0} << low), low);
  };
  if (tile.uniform && tile.from[0] != Source::slope) {
    std::uint8_t*& end = ends_[ListChooser::of(tile.from[0])];
    for (std::size_t g = 0; g < tile.count; ++g) {
      const auto length = static_cast<unsigned>(std::bit_width(numbers[g]));
      *end++ = static_cast<std::uint8_t>(length);
      put_bits(numbers[g], length);
    }
    return;
  }
  for (std::size_t g = 0; g < tile.count; ++g) {
    const auto length = static_cast<unsigned>(std::bit_width(numbers[g]));
    const bool slope = tile.from[g] == Source::slope;
    *ends_[slope ? chooser_.by_slope(g) : ListChooser::of(tile.from[g])]++ = static_cast<std::uint8_t>(length);
    if (slope) chooser_.add(g, length);
    put_bits(numbers[g], length);
  }
}

template void LengthWriter::put(const TileSources&, const std::array<std::uint32_t, tile_groups>&) noexcept;
template void LengthWriter::put(const TileSources&, const std::array<std::uint64_t, tile_groups>&) noexcept;

void LengthWriter::finish() {
  const std::uint64_t size = writer_.finish();
  std::memcpy(out_.data() + start_ - size_bytes, &size, sizeof size);
  out_.resize(start_ + static_cast<std::size_t>(size));
  Bytes packed;
  for (std::size_t n = 0; n < length_lists; ++n) {
    const std::span<const std::uint8_t> list(lists_[n].get(), ends_[n]);
    put_number(list.size(), out_);
    if (list.empty()) continue;
    const std::size_t start = packed.size();
    pack_list(list, packed);
    put_number(packed.size() - start, out_);
  }
  out_.insert(out_.end(), packed.begin(), packed.end());
}

LengthReader::LengthReader(BytesView stream, std::size_t numbers, std::size_t size, const LengthSteps& steps)
    : chooser_(steps) {
  const std::uint64_t bytes = load_word(as_bytes(take_bytes(stream, size_bytes)));
  const BytesView bits = take_bytes(stream, bytes);
  if (stream.size() < length_lists) fail_damaged("ends early");  // what is behind the bits is read with them
  bits_ = as_bytes(bits);
  bit_count_ = 8 * bytes;
  std::array<std::size_t, length_lists> counts{};
  std::array<std::uint64_t, length_lists> sizes{};
  std::size_t total = 0;
  for (std::size_t n = 0; n < length_lists; ++n) {
    const std::uint64_t count = take_number(stream);
    if (count > numbers - total) fail_damaged("has more lengths than values");
    counts[n] = static_cast<std::size_t>(count);
    total += counts[n];
    if (count > 0) sizes[n] = take_number(stream);
  }
  if (total != numbers) fail_damaged("has fewer lengths than values");
  const auto longest = static_cast<std::uint8_t>(8 * size);
  for (std::size_t n = 0; n < length_lists; ++n) {
    // Room behind the last for those that are read before it is seen that there are too many.
    lists_[n].reset(new std::uint8_t[counts[n] + tile_groups]);
    std::uint8_t* const list = lists_[n].get();
    if (counts[n] > 0) unpack(take_bytes(stream, sizes[n]), {list, counts[n]});
    std::memset(list + counts[n], 0, tile_groups);
    next_[n] = list;
    ends_[n] = list + counts[n];
    if (std::any_of(next_[n], ends_[n], [&](std::uint8_t length) { return length > longest; })) {
      fail_damaged("has a length beyond its type");
    }
  }
  if (!stream.empty()) fail_damaged("has more bytes than its lists");
}

template <class W>
void LengthReader::take(const TileSources& tile, std::array<W, tile_groups>& numbers) {
  std::array<std::uint8_t, tile_groups> lengths;
  const std::size_t count = tile.count;
  if (tile.uniform && tile.from[0] != Source::slope) {
    const std::size_t list = ListChooser::of(tile.from[0]);
    std::memcpy(lengths.data(), next_[list], count);
    next_[list] += count;
  } else {
    for (std::size_t g = 0; g < count; ++g) {
      const bool slope = tile.from[g] == Source::slope;
      lengths[g] = *next_[slope ? chooser_.by_slope(g) : ListChooser::of(tile.from[g])]++;
      if (slope) chooser_.add(g, lengths[g]);
    }
  }
  std::uint64_t needed = 0;
  bool enough = true;
  for (std::size_t g = 0; g < count; ++g) needed += low_bits(lengths[g]);
  for (std::size_t n = 0; n < length_lists; ++n) enough = enough && next_[n] <= ends_[n];
  if (!enough || needed > bit_count_ - place_) fail_damaged("has fewer bits than its lengths say");
  std::uint64_t place = place_;
  for (std::size_t g = 0; g < count; ++g) {
    const unsigned length = lengths[g], low = low_bits(length);
    const std::uint64_t top = std::uint64_t{length != 0} << low;
    numbers[g] = static_cast<W>(top | get_bits(bits_, place, low));
    place += low;
  }
  place_ = place;
}

template void LengthReader::take(const TileSources&, std::array<std::uint32_t, tile_groups>&);
template void LengthReader::take(const TileSources&, std::array<std::uint64_t, tile_groups>&);

}  // namespace sidestream::trees
