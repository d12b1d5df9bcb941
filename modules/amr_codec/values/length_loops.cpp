// Inner loops of the residual coder, each compiled for several vector widths (SIDESTREAM_WIDE).
//
// A number becomes a kind (length and second bit, computed without branches) and low bits. Codes of kinds go to four
// lanes; number n of a row is in lane n modulo 4. Decoding a prefix code is a chain of dependent loads, and four
// independent chains keep the processor busy, as the four streams of Huff0 in zstd do (Collet 2013). Each step takes 64
// bits of a lane, which hold four codes of at most ten bits, and looks each one up in a table.
//
// The low bits of all numbers form one stream. The kinds give the position of each number in it.
#include "amr_codec/values/length_loops.hpp"

#include <algorithm>

#include "amr_codec/values/elements.hpp"

namespace sidestream::trees::length_loops {

namespace {

template <class W>
inline __attribute__((always_inline)) void kinds(const W* __restrict numbers, std::size_t count,
                                                 std::uint8_t* __restrict out) {
  for (std::size_t n = 0; n < count; ++n) {
    const W number = numbers[n];
    const auto length = static_cast<W>(std::bit_width(number));
    const auto second = static_cast<W>(number >> (length > 1 ? length - 2 : 0) & 1);
    out[n] = static_cast<std::uint8_t>(length > 1 ? 2 * (length - 1) + second : length);
  }
}

}  // namespace

// Compilers clone no templates for several processors: the templates below call these functions.
SIDESTREAM_WIDE void kinds_of(const std::uint64_t* numbers, std::size_t count, std::uint8_t* out) {
  kinds(numbers, count, out);
}

SIDESTREAM_WIDE void kinds_of(const std::uint32_t* numbers, std::size_t count, std::uint8_t* out) {
  kinds(numbers, count, out);
}

template <class W>
void find_kinds(const W* numbers, std::size_t count, std::uint8_t* out) {
  kinds_of(numbers, count, out);
}

template void find_kinds(const std::uint64_t*, std::size_t, std::uint8_t*);
template void find_kinds(const std::uint32_t*, std::size_t, std::uint8_t*);

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

SIDESTREAM_WIDE void join_symbols(const std::uint8_t* __restrict codes, const std::uint8_t* __restrict kinds,
                                  std::size_t count, std::uint16_t* __restrict symbols) {
  static_assert(length_codes * code_symbols <= 65536);
  for (std::size_t n = 0; n < count; ++n) symbols[n] = static_cast<std::uint16_t>(codes[n] * code_symbols + kinds[n]);
}

// Counts alternate between two tables, so that consecutive equal symbols do not wait for each other's store.
void count_symbols(const std::uint16_t* symbols, std::size_t count, std::uint32_t* counts) {
  std::array<std::uint32_t, length_codes * code_symbols> others{};
  std::size_t n = 0;
  for (; n + 1 < count; n += 2) {
    ++counts[symbols[n]];
    ++others[symbols[n + 1]];
  }
  if (n < count) ++counts[symbols[n]];
  for (std::size_t k = 0; k < others.size(); ++k) counts[k] += others[k];
}

SIDESTREAM_WIDE void write_lane(const std::uint16_t* symbols, std::size_t count, const std::uint32_t* words,
                                BitWriter& out) {
  BitWriter writer = out;
  std::size_t n = 0;
  for (; n + 3 * lanes < count; n += 4 * lanes) {
    std::uint64_t held = 0;
    unsigned fill = 0;
    for (std::size_t k = 0; k < 4 * lanes; k += lanes) {
      const std::uint32_t word = words[symbols[n + k]];
      held |= std::uint64_t{word & 0xffff} << fill;
      fill += word >> 16;
    }
    writer.put_short(held, fill);
  }
  for (; n < count; n += lanes) {
    const std::uint32_t word = words[symbols[n]];
    writer.put_short(word & 0xffff, word >> 16);
  }
  out = writer;
}

SIDESTREAM_WIDE std::uint64_t find_low_bits(const std::uint8_t* __restrict kinds, std::size_t count,
                                            std::uint8_t* __restrict low) {
  std::uint64_t sum = 0;
  for (std::size_t n = 0; n < count; ++n) {
    low[n] = static_cast<std::uint8_t>(low_bits_of(kinds[n]));
    sum += low[n];
  }
  return sum;
}

namespace {

/// Number of bits that fit into a word behind up to seven bits of an incomplete byte.
constexpr unsigned most_in_word = 56;

template <class W>
inline __attribute__((always_inline)) void low_bits(const W* numbers, const std::uint8_t* lows, std::size_t count,
                                                    std::uint8_t* out) {
  BitWriter writer(out);
  for (std::size_t n = 0; n < count; ++n) {
    const unsigned low = lows[n];
    const std::uint64_t bits = numbers[n] & ((std::uint64_t{1} << low) - 1);
    if (sizeof(W) < 8 || low <= most_in_word) {
      writer.put_short(bits, low);
    } else {
      writer.put(bits, low);
    }
  }
  writer.finish();
}

template <class W>
inline __attribute__((always_inline)) std::uint64_t numbers_at(const std::uint8_t* bits, std::uint64_t place,
                                                               const std::uint8_t* kinds, std::size_t count,
                                                               W* numbers) {
  for (std::size_t n = 0; n < count; ++n) {
    const unsigned low = low_bits_of(kinds[n]);
    const std::uint64_t high = high_bits_of(kinds[n]);
    if (sizeof(W) < 8 || low <= most_in_word) {
      const std::uint64_t word = load_word(bits + (place >> 3)) >> (place & 7);
      numbers[n] = static_cast<W>(high | (word & ((std::uint64_t{1} << low) - 1)));
    } else {
      numbers[n] = static_cast<W>(high | get_bits(bits, place, low));
    }
    place += low;
  }
  return place;
}

}  // namespace

SIDESTREAM_WIDE void write_all(const std::uint64_t* numbers, const std::uint8_t* low, std::size_t count,
                               std::uint8_t* out) {
  low_bits(numbers, low, count, out);
}

SIDESTREAM_WIDE void write_all(const std::uint32_t* numbers, const std::uint8_t* low, std::size_t count,
                               std::uint8_t* out) {
  low_bits(numbers, low, count, out);
}

template <class W>
void write_low_bits(const W* numbers, const std::uint8_t* low, std::size_t count, std::uint8_t* out) {
  write_all(numbers, low, count, out);
}

template void write_low_bits(const std::uint64_t*, const std::uint8_t*, std::size_t, std::uint8_t*);
template void write_low_bits(const std::uint32_t*, const std::uint8_t*, std::size_t, std::uint8_t*);

// One word holds four codes of a lane. Lanes are decoded concurrently, because within a lane the place of each code
// depends on the length of the code before it.
SIDESTREAM_WIDE void read_codes(std::array<ResidualReader::Lane, lanes>& all, const std::uint16_t* decoders,
                                const std::uint8_t* codes, std::size_t count, std::uint8_t* kinds) {
  static_assert(4 * longest_code <= 57);
  std::array<ResidualReader::Lane, lanes> lane = all;
  constexpr std::uint64_t mask = decode_entries - 1;
  const auto take = [&](std::uint64_t& word, std::uint64_t& place, std::size_t n) {
    const unsigned entry = decoders[codes[n] * decode_entries + (word & mask)];
    kinds[n] = static_cast<std::uint8_t>(entry >> 4);
    word >>= entry & 15;
    place += entry & 15;
  };
  std::size_t n = 0;
  for (; n + 4 * lanes <= count; n += 4 * lanes) {
    std::uint64_t words[lanes];
    for (std::size_t k = 0; k < lanes; ++k)
      words[k] = load_word(lane[k].bytes + (lane[k].place >> 3)) >> (lane[k].place & 7);
    for (std::size_t k = 0; k < 4 * lanes; ++k) take(words[k % lanes], lane[k % lanes].place, n + k);
  }
  for (; n < count; ++n) {
    ResidualReader::Lane& one = lane[n % lanes];
    std::uint64_t word = load_word(one.bytes + (one.place >> 3)) >> (one.place & 7);
    take(word, one.place, n);
  }
  all = lane;
}

SIDESTREAM_WIDE std::uint64_t numbers_of(const std::uint8_t* bits, std::uint64_t place, const std::uint8_t* kinds,
                                         std::size_t count, std::uint64_t* numbers) {
  return numbers_at(bits, place, kinds, count, numbers);
}

SIDESTREAM_WIDE std::uint64_t numbers_of(const std::uint8_t* bits, std::uint64_t place, const std::uint8_t* kinds,
                                         std::size_t count, std::uint32_t* numbers) {
  return numbers_at(bits, place, kinds, count, numbers);
}

template <class W>
std::uint64_t read_numbers(const std::uint8_t* bits, std::uint64_t place, const std::uint8_t* kinds, std::size_t count,
                           W* numbers) {
  return numbers_of(bits, place, kinds, count, numbers);
}

template std::uint64_t read_numbers(const std::uint8_t*, std::uint64_t, const std::uint8_t*, std::size_t,
                                    std::uint64_t*);
template std::uint64_t read_numbers(const std::uint8_t*, std::uint64_t, const std::uint8_t*, std::size_t,
                                    std::uint32_t*);

}  // namespace sidestream::trees::length_loops
