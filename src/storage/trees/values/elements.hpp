// Reading elements of any type as double.
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

/// Of doubles and floats; see the two below.
void read_beside(const double* from, const Index* numbers, std::size_t count, double* out) noexcept;
void read_beside(const float* from, const Index* numbers, std::size_t count, double* out) noexcept;

/// Likewise, and no number is negative.
template <class T>
inline void read_at(const T* __restrict from, const Index* __restrict numbers, std::size_t count,
                    double* __restrict out) noexcept {
  for (std::size_t n = 0; n < count; ++n) out[n] = static_cast<double>(from[numbers[n]]);
}

/// Those with these numbers; 0 where the number is negative. `from` has at least one element.
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

/// Likewise, and no number is negative.
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

/// `count` of them from `first` on: where they are if they lie as doubles in memory, or a copy in `out`.
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

// Numbers of any length one behind the other in bytes, the first in the lowest bits; and the order of floating-point
// numbers.

static_assert(std::endian::native == std::endian::little, "streams hold the machine's words as they are");

template <class T>
using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// As whole numbers whose order is that of the floating-point numbers, so that neighbours differ by 1; its own inverse.
template <class W>
[[nodiscard]] constexpr W ordered(W bits) noexcept {
  constexpr int top = 8 * sizeof(W) - 1;
  return static_cast<W>(bits ^ (static_cast<W>(-(bits >> top)) & static_cast<W>(~W{0} >> 1)));
}

/// Small for small differences of either sign.
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

/// What readers and writers may touch behind the last bit.
inline constexpr std::size_t bit_slack = 9;

/// Behind what it writes there must be `bit_slack` bytes of room.
class BitWriter {
 public:
  explicit BitWriter(std::uint8_t* out) noexcept : begin_(out), at_(out) {}
  /// The lowest `length` bits, at most 64, of a number that has no others.
  void put(std::uint64_t bits, unsigned length) noexcept {
    const std::uint64_t low = held_ | bits << fill_;
    const std::uint64_t high = (bits >> 1) >> (63 - fill_);
    store_word(at_, low);
    const unsigned total = fill_ + length, whole = total & ~7u;
    held_ = whole == 64 ? high : low >> (whole & 63);
    at_ += whole / 8;
    fill_ = total & 7;
  }
  /// At most 56.
  void put_short(std::uint64_t bits, unsigned length) noexcept {
    held_ |= bits << fill_;
    store_word(at_, held_);
    const unsigned total = fill_ + length;
    held_ >>= total & ~7u;
    at_ += total >> 3;
    fill_ = total & 7;
  }
  /// Completes the last byte; how many there are.
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

/// `length` bits, at most 64, from bit `place` on. Reads `bit_slack` bytes from where they begin.
inline std::uint64_t get_bits(const std::uint8_t* bytes, std::uint64_t place, unsigned length) noexcept {
  const std::uint8_t* at = bytes + (place >> 3);
  const auto shift = static_cast<unsigned>(place & 7);
  const std::uint64_t word = load_word(at) >> shift | (static_cast<std::uint64_t>(at[8]) << 1) << (63 - shift);
  return word & (length == 0 ? 0 : ~std::uint64_t{0} >> (64 - length));
}

}  // namespace sidestream::trees

// Loops that processors with wider registers have in a version of their own.
/// In front of a function: compiled for the baseline and for two later levels of x86-64, of which the widest that the
/// processor has is called. All three do the same operations on the same numbers, each rounded by itself: the build
/// forbids contraction. Elsewhere (other processors, compilers that can't, sanitizers, which the choice would run ahead
/// of) there is the baseline alone.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SIDESTREAM_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SIDESTREAM_WIDE
#endif
