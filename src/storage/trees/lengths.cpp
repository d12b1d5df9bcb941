#include "storage/trees/lengths.hpp"

#include <algorithm>
#include <cstring>

#include "storage/trees/packer.hpp"
#include "storage/trees/stream_parts.hpp"

namespace sidestream::trees {

namespace {

/// Lengths are soon packed; higher levels gain nothing.
constexpr int pack_level = 1;

unsigned low_bits(unsigned length) noexcept { return length - (length != 0); }

}  // namespace

LengthWriter::LengthWriter(std::size_t numbers, std::size_t size, const LengthSteps& steps)
    : chooser_(steps), bits_(new std::uint8_t[numbers * size + bit_slack]), writer_(bits_.get()) {
  for (std::size_t n = 0; n < length_lists; ++n) {
    lists_[n].reset(new std::uint8_t[numbers]);
    ends_[n] = lists_[n].get();
  }
}

template <class W>
void LengthWriter::put(const TileSources& sources, const std::array<W, tile_groups>& numbers) noexcept {
  const auto put_bits = [this](W number, unsigned length) {
    const unsigned low = low_bits(length);
    writer_.put(number ^ static_cast<W>(W{length != 0} << low), low);
  };
  if (sources.uniform && sources.from[0] != Source::slope) {
    std::uint8_t*& end = ends_[ListChooser::of(sources.from[0])];
    for (std::size_t g = 0; g < sources.count; ++g) {
      const auto length = static_cast<unsigned>(std::bit_width(numbers[g]));
      *end++ = static_cast<std::uint8_t>(length);
      put_bits(numbers[g], length);
    }
    return;
  }
  for (std::size_t g = 0; g < sources.count; ++g) {
    const auto length = static_cast<unsigned>(std::bit_width(numbers[g]));
    const bool slope = sources.from[g] == Source::slope;
    *ends_[slope ? chooser_.by_slope(g) : ListChooser::of(sources.from[g])]++ = static_cast<std::uint8_t>(length);
    if (slope) chooser_.add(g, length);
    put_bits(numbers[g], length);
  }
}

template void LengthWriter::put(const TileSources&, const std::array<std::uint32_t, tile_groups>&) noexcept;
template void LengthWriter::put(const TileSources&, const std::array<std::uint64_t, tile_groups>&) noexcept;

void LengthWriter::finish(Bytes& out) {
  Bytes packed;
  for (std::size_t n = 0; n < length_lists; ++n) {
    const std::span<const std::uint8_t> list(lists_[n].get(), ends_[n]);
    put_number(list.size(), out);
    if (list.empty()) continue;
    const std::size_t start = packed.size();
    pack(list, pack_level, packed);
    put_number(packed.size() - start, out);
  }
  out.insert(out.end(), packed.begin(), packed.end());
  const std::size_t size = writer_.finish(), at = out.size();
  out.resize(at + size + 1);
  std::memcpy(out.data() + at, bits_.get(), size);
}

LengthReader::LengthReader(BytesView stream, std::size_t numbers, std::size_t size, const LengthSteps& steps)
    : chooser_(steps) {
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
  if (stream.empty()) fail_damaged("ends early");
  bits_ = as_bytes(stream);
  bit_count_ = 8 * static_cast<std::uint64_t>(stream.size() - 1);
}

template <class W>
void LengthReader::take(const TileSources& sources, std::array<W, tile_groups>& numbers) {
  std::array<std::uint8_t, tile_groups> lengths;
  const std::size_t count = sources.count;
  if (sources.uniform && sources.from[0] != Source::slope) {
    const std::size_t list = ListChooser::of(sources.from[0]);
    std::memcpy(lengths.data(), next_[list], count);
    next_[list] += count;
  } else {
    for (std::size_t g = 0; g < count; ++g) {
      const bool slope = sources.from[g] == Source::slope;
      lengths[g] = *next_[slope ? chooser_.by_slope(g) : ListChooser::of(sources.from[g])]++;
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
