// Reading elements of any type as double.
#pragma once

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

/// Those with these numbers.
inline void read_elements(Type type, BytesView from, const Index* numbers, std::size_t count, double* out) {
  with_type(type, [&]<class T>(T) {
    for (std::size_t n = 0; n < count; ++n) {
      out[n] = static_cast<double>(element<T>(from.data(), static_cast<std::size_t>(numbers[n])));
    }
  });
}

/// Those with every `stride`-th number; 0 where the number is negative. `from` has at least one element.
inline void read_beside(Type type, BytesView from, const Index* numbers, std::size_t stride, std::size_t count,
                        double* out) {
  with_type(type, [&]<class T>(T) {
    for (std::size_t n = 0; n < count; ++n) {
      const Index number = numbers[n * stride];
      const T value = element<T>(from.data(), number < 0 ? 0 : static_cast<std::size_t>(number));
      out[n] = number < 0 ? 0 : static_cast<double>(value);
    }
  });
}

/// Those from `first` on.
inline void read_run(Type type, BytesView from, std::size_t first, std::size_t count, double* out) {
  with_type(type, [&]<class T>(T) {
    for (std::size_t n = 0; n < count; ++n) out[n] = static_cast<double>(element<T>(from.data(), first + n));
  });
}

}  // namespace sidestream::trees
