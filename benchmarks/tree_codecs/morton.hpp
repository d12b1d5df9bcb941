// Cells of one level by their numbers on Morton's curve.
#pragma once

#include <array>
#include <cstdint>

namespace benchmark {

using Key = std::uint64_t;

inline Key key_of(std::array<std::int64_t, 3> at) {
  Key key = 0;
  for (unsigned bit = 0; bit < 20; ++bit) {
    for (unsigned a = 0; a < 3; ++a) key |= (static_cast<Key>(at[a]) >> bit & 1) << (3 * bit + a);
  }
  return key;
}

inline std::array<std::int64_t, 3> place_of(Key key) {
  std::array<std::int64_t, 3> at{};
  for (unsigned bit = 0; bit < 20; ++bit) {
    for (unsigned a = 0; a < 3; ++a) at[a] |= static_cast<std::int64_t>(key >> (3 * bit + a) & 1) << bit;
  }
  return at;
}

}  // namespace benchmark
