// The lowest layer of the codec: every kernel reads and writes through these functions.
//
// Values: elements of any type are read as doubles, in runs or by their indices. Aligned floats and doubles take vector
// loops; others are copied element by element.
//
// Residuals: a value and its prediction are mapped to integers of the same order, subtracted, and folded (zigzag), so
// that small differences of either sign are numbers with many leading zeros. The map is from Lindstrom and Isenburg
// ("Fast and efficient compression of floating-point data", 2006).
//
// Bits: numbers are packed from the lowest bit of the first byte on, eight bytes at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sidestream/data/box.hpp"
#include "sidestream/data/type.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream::trees {

template <class T>
[[nodiscard]] inline T element(const std::byte* bytes, std::size_t place) noexcept {
  T value;
  std::memcpy(&value, bytes + place * sizeof(T), sizeof value);
  return value;
}

/// read_beside() below for doubles and floats.
void read_beside(const double* from, const Index* numbers, std::size_t count, double* out) noexcept;
void read_beside(const float* from, const Index* numbers, std::size_t count, double* out) noexcept;

/// Does the same if no number is negative.
template <class T>
inline void read_at(const T* __restrict from, const Index* __restrict numbers, std::size_t count,
                    double* __restrict out) noexcept {
  for (std::size_t n = 0; n < count; ++n) out[n] = static_cast<double>(from[numbers[n]]);
}

/// Reads the elements with these numbers; 0 if a number is negative. `from` has at least one element.
inline void read_beside(Type type, BytesView from, const Index* numbers, std::size_t count, double* out) {
  with_type(type, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>) {
      if (reinterpret_cast<std::uintptr_t>(from.data()) % alignof(T) == 0) {
        return read_beside(reinterpret_cast<const T*>(from.data()), numbers, count, out);
      }
    }
    for (std::size_t n = 0; n < count; ++n) {
      const Index number = numbers[n];
      const T value = element<T>(from.data(), number < 0 ? 0 : static_cast<std::size_t>(number));
      out[n] = number < 0 ? 0 : static_cast<double>(value);
    }
  });
}

/// Does the same if no number is negative.
inline void read_elements(Type type, BytesView from, const Index* numbers, std::size_t count, double* out) {
  with_type(type, [&]<class T>(T) {
    if (reinterpret_cast<std::uintptr_t>(from.data()) % alignof(T) == 0) {
      return read_at(reinterpret_cast<const T*>(from.data()), numbers, count, out);
    }
    for (std::size_t n = 0; n < count; ++n) {
      out[n] = static_cast<double>(element<T>(from.data(), static_cast<std::size_t>(numbers[n])));
    }
  });
}

/// Reads `count` elements from `first` on. Aligned doubles are returned in place, others as a copy in `out`.
inline const double* read_run(Type type, BytesView from, std::size_t first, std::size_t count, double* __restrict out) {
  const std::byte* __restrict at = from.data() + first * size_of(type);
  if (type == Type::float64) {
    if (reinterpret_cast<std::uintptr_t>(at) % alignof(double) == 0) return reinterpret_cast<const double*>(at);
    std::memcpy(out, at, count * sizeof(double));
    return out;
  }
  with_type(type, [&]<class T>(T) {
    for (std::size_t n = 0; n < count; ++n) out[n] = static_cast<double>(element<T>(at, n));
  });
  return out;
}

// Ordered integers for floating-point numbers, and packing of numbers of any length to bits. The first number takes the
// lowest bits.

static_assert(std::endian::native == std::endian::little, "streams hold the machine's words as they are");

template <class T>
using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Maps the bits of a floating-point number to a signed integer of the same order, so that neighbours differ by 1
/// (Lindstrom and Isenburg 2006). It is its own inverse.
template <class W>
[[nodiscard]] constexpr W ordered(W bits) noexcept {
  constexpr int top = 8 * sizeof(W) - 1;
  return static_cast<W>(bits ^ (static_cast<W>(-(bits >> top)) & static_cast<W>(~W{0} >> 1)));
}

/// Folds signed differences to unsigned numbers, so that small differences of either sign become small numbers.
template <class W>
[[nodiscard]] constexpr W zigzag(W difference) noexcept {
  return static_cast<W>((difference << 1) ^ static_cast<W>(-(difference >> (8 * sizeof(W) - 1))));
}

template <class W>
[[nodiscard]] constexpr W unzigzag(W folded) noexcept {
  return static_cast<W>((folded >> 1) ^ static_cast<W>(-(folded & 1)));
}

inline std::uint64_t load_word(const std::uint8_t* at) noexcept {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

inline void store_word(std::uint8_t* at, std::uint64_t word) noexcept { std::memcpy(at, &word, sizeof word); }

/// Bytes that readers and writers may touch behind the last bit.
inline constexpr std::size_t bit_slack = 9;

/// Writes numbers as bits. There must be `bit_slack` bytes of room behind the last one.
class BitWriter {
 public:
  explicit BitWriter(std::uint8_t* out) noexcept : begin_(out), at_(out) {}
  /// Writes the lowest `length` bits, at most 64; higher bits of the number are 0.
  void put(std::uint64_t bits, unsigned length) noexcept {
    const std::uint64_t low = held_ | bits << fill_;
    const std::uint64_t high = (bits >> 1) >> (63 - fill_);
    store_word(at_, low);
    const unsigned total = fill_ + length, whole = total & ~7u;
    held_ = whole == 64 ? high : low >> (whole & 63);
    at_ += whole / 8;
    fill_ = total & 7;
  }
  /// Does the same for a length of at most 56.
  void put_short(std::uint64_t bits, unsigned length) noexcept {
    held_ |= bits << fill_;
    store_word(at_, held_);
    const unsigned total = fill_ + length;
    held_ >>= total & ~7u;
    at_ += total >> 3;
    fill_ = total & 7;
  }
  /// Completes the last byte and returns the number of bytes.
  std::size_t finish() noexcept {
    if (fill_ > 0) *at_++ = static_cast<std::uint8_t>(held_);
    fill_ = 0;
    held_ = 0;
    return static_cast<std::size_t>(at_ - begin_);
  }

 private:
  std::uint8_t *begin_, *at_;
  std::uint64_t held_ = 0;
  unsigned fill_ = 0;
};

/// Reads `length` bits, at most 64, from bit `place` on. Touches `bit_slack` bytes from their first byte on.
inline std::uint64_t get_bits(const std::uint8_t* bytes, std::uint64_t place, unsigned length) noexcept {
  const std::uint8_t* at = bytes + (place >> 3);
  const auto shift = static_cast<unsigned>(place & 7);
  const std::uint64_t word = load_word(at) >> shift | (static_cast<std::uint64_t>(at[8]) << 1) << (63 - shift);
  return word & (length == 0 ? 0 : ~std::uint64_t{0} >> (64 - length));
}

}  // namespace sidestream::trees

/// Compiles a function for the baseline and for two later levels of x86-64; the program calls the widest version that
/// the processor has. All three do the same operations in the same order. Each operation is rounded by itself, because
/// the build forbids contraction. Only the baseline is compiled for other processors, by compilers without this
/// attribute, and with sanitizers, which start after the version is chosen.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SIDESTREAM_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SIDESTREAM_WIDE
#endif
