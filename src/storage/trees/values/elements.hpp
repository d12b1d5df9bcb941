// Reading elements of any type as double.
#pragma once

#include <cstdint>
#include <cstring>

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

}  // namespace sidestream::trees
