#include "storage/trees/length_loops.hpp"

#include <algorithm>

#include "storage/trees/wide.hpp"

namespace sidestream::trees::length_loops {

// Versions for several processors are not made of templates: these are called by the templates below.
SIDESTREAM_WIDE void lengths_of(const std::uint64_t* __restrict numbers, std::size_t count,
                                std::uint8_t* __restrict lengths) {
  for (std::size_t n = 0; n < count; ++n) lengths[n] = static_cast<std::uint8_t>(std::bit_width(numbers[n]));
}

SIDESTREAM_WIDE void lengths_of(const std::uint32_t* __restrict numbers, std::size_t count,
                                std::uint8_t* __restrict lengths) {
  for (std::size_t n = 0; n < count; ++n) lengths[n] = static_cast<std::uint8_t>(std::bit_width(numbers[n]));
}

template <class W>
void find_lengths(const W* numbers, std::size_t count, std::uint8_t* lengths) {
  lengths_of(numbers, count, lengths);
}

template void find_lengths(const std::uint64_t*, std::size_t, std::uint8_t*);
template void find_lengths(const std::uint32_t*, std::size_t, std::uint8_t*);

SIDESTREAM_WIDE void choose_codes(const std::uint16_t* __restrict marks, std::size_t count, std::size_t step,
                                  const std::array<std::uint16_t, most_classes - 1>& limits,
                                  std::uint8_t* __restrict codes) {
  static_assert(most_classes == 4);
  const std::uint16_t a = limits[0], b = limits[1], c = limits[2];
  const auto first = static_cast<std::uint8_t>(step * most_classes);
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint16_t mark = marks[n];
    const auto slope = static_cast<std::uint8_t>(first + (mark >= a) + (mark >= b) + (mark >= c));
    const auto other = static_cast<std::uint8_t>(slope_codes - 1 + (mark & 7));
    codes[n] = mark >= first_mark ? other : slope;
  }
}

SIDESTREAM_WIDE void write_lane(const std::uint8_t* codes, const std::uint8_t* lengths, std::size_t count,
                                       const CodeWords* words, BitWriter& out) {
  BitWriter writer = out;
  std::size_t n = 0;
  for (; n + 3 * lanes < count; n += 4 * lanes) {
    std::uint64_t held = 0;
    unsigned fill = 0;
    for (std::size_t k = 0; k < 4 * lanes; k += lanes) {
      const std::uint32_t word = words[codes[n + k]][lengths[n + k]];
      held |= std::uint64_t{word & 0xffff} << fill;
      fill += word >> 16;
    }
    writer.put_short(held, fill);
  }
  for (; n < count; n += lanes) {
    const std::uint32_t word = words[codes[n]][lengths[n]];
    writer.put_short(word & 0xffff, word >> 16);
  }
  out = writer;
}

namespace {

/// Of lengths below 58: with those of a byte begun before, a word has them all.
template <class W>
inline __attribute__((always_inline)) void put_short(const W* numbers, const std::uint8_t* lengths, std::size_t count,
                                                     BitWriter& out) {
  BitWriter writer = out;
  for (std::size_t n = 0; n < count; ++n) {
    const unsigned length = lengths[n], low = length - (length != 0);
    writer.put_short(numbers[n] ^ static_cast<W>(W{length != 0} << low), low);
  }
  out = writer;
}

template <class W>
inline __attribute__((always_inline)) void low_bits(const W* numbers, const std::uint8_t* lengths,
                                                           std::size_t count, std::uint8_t* out) {
  BitWriter writer(out);
  for (std::size_t first = 0; first < count; first += tile_groups) {
    const std::size_t now = std::min(tile_groups, count - first);
    std::uint8_t longest = 0;
    for (std::size_t n = 0; n < now; ++n) longest = std::max(longest, lengths[first + n]);
    if (longest <= 57) {
      put_short(numbers + first, lengths + first, now, writer);
      continue;
    }
    for (std::size_t n = first; n < first + now; ++n) {
      const unsigned length = lengths[n], low = length - (length != 0);
      writer.put(numbers[n] ^ static_cast<W>(W{length != 0} << low), low);
    }
  }
  writer.finish();
}

template <class W>
inline __attribute__((always_inline)) std::uint64_t numbers_at(const std::uint8_t* bits, std::uint64_t place,
                                                               const std::uint8_t* lengths, std::size_t count,
                                                               W* numbers) {
  std::uint8_t longest = 0;
  for (std::size_t n = 0; n < count; ++n) longest = std::max(longest, lengths[n]);
  if (longest <= 57) {  // a word has them all
    for (std::size_t n = 0; n < count; ++n) {
      const unsigned length = lengths[n], low = length - (length != 0);
      const std::uint64_t top = std::uint64_t{length != 0} << low;
      const std::uint64_t word = load_word(bits + (place >> 3)) >> (place & 7);
      numbers[n] = static_cast<W>(top | (word & (top - (length != 0))));
      place += low;
    }
    return place;
  }
  for (std::size_t n = 0; n < count; ++n) {
    const unsigned length = lengths[n], low = length - (length != 0);
    numbers[n] = static_cast<W>(std::uint64_t{length != 0} << low | get_bits(bits, place, low));
    place += low;
  }
  return place;
}

}  // namespace

SIDESTREAM_WIDE void low_bits_of(const std::uint64_t* numbers, const std::uint8_t* lengths, std::size_t count,
                                        std::uint8_t* out) {
  low_bits(numbers, lengths, count, out);
}

SIDESTREAM_WIDE void low_bits_of(const std::uint32_t* numbers, const std::uint8_t* lengths, std::size_t count,
                                        std::uint8_t* out) {
  low_bits(numbers, lengths, count, out);
}

template <class W>
void write_low_bits(const W* numbers, const std::uint8_t* lengths, std::size_t count, std::uint8_t* out) {
  low_bits_of(numbers, lengths, count, out);
}

template void write_low_bits(const std::uint64_t*, const std::uint8_t*, std::size_t, std::uint8_t*);
template void write_low_bits(const std::uint32_t*, const std::uint8_t*, std::size_t, std::uint8_t*);

// Four codes of each lane are in one word; four lanes side by side, since each code is found behind the one before it.
SIDESTREAM_WIDE void read_codes(std::array<LengthReader::Lane, lanes>& all, const std::uint16_t* decoders,
                                const std::uint8_t* codes, std::size_t count, std::uint8_t* lengths) {
  static_assert(4 * longest_code <= 57);
  std::array<LengthReader::Lane, lanes> lane = all;
  constexpr std::uint64_t mask = decode_entries - 1;
  const auto take = [&](std::uint64_t& word, std::uint64_t& place, std::size_t n) {
    const unsigned entry = decoders[codes[n] * decode_entries + (word & mask)];
    lengths[n] = static_cast<std::uint8_t>(entry >> 4);
    word >>= entry & 15;
    place += entry & 15;
  };
  std::size_t n = 0;
  for (; n + 4 * lanes <= count; n += 4 * lanes) {
    std::uint64_t words[lanes];
    for (std::size_t k = 0; k < lanes; ++k) words[k] = load_word(lane[k].bytes + (lane[k].place >> 3)) >> (lane[k].place & 7);
    for (std::size_t k = 0; k < 4 * lanes; ++k) take(words[k % lanes], lane[k % lanes].place, n + k);
  }
  for (; n < count; ++n) {
    LengthReader::Lane& one = lane[n % lanes];
    std::uint64_t word = load_word(one.bytes + (one.place >> 3)) >> (one.place & 7);
    take(word, one.place, n);
  }
  all = lane;
}

SIDESTREAM_WIDE std::uint64_t numbers_of(const std::uint8_t* bits, std::uint64_t place, const std::uint8_t* lengths,
                                         std::size_t count, std::uint64_t* numbers) {
  return numbers_at(bits, place, lengths, count, numbers);
}

SIDESTREAM_WIDE std::uint64_t numbers_of(const std::uint8_t* bits, std::uint64_t place, const std::uint8_t* lengths,
                                         std::size_t count, std::uint32_t* numbers) {
  return numbers_at(bits, place, lengths, count, numbers);
}

template <class W>
std::uint64_t read_numbers(const std::uint8_t* bits, std::uint64_t place, const std::uint8_t* lengths,
                           std::size_t count, W* numbers) {
  return numbers_of(bits, place, lengths, count, numbers);
}

template std::uint64_t read_numbers(const std::uint8_t*, std::uint64_t, const std::uint8_t*, std::size_t,
                                    std::uint64_t*);
template std::uint64_t read_numbers(const std::uint8_t*, std::uint64_t, const std::uint8_t*, std::size_t,
                                    std::uint32_t*);

}  // namespace sidestream::trees::length_loops
