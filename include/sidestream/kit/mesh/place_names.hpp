// Names of cells and nodes of refinement levels and trees, made from their position in the whole mesh.
#pragma once

#include <compare>
#include <cstdint>

#include "sidestream/kit/base/hash.hpp"
#include "sidestream/kit/data/octree.hpp"

namespace sidestream {

inline constexpr int level_name_bits = 56;  ///< the lower bits are the number on the level

/// The name of a position on a level. Trees may be so deep that a level has more positions than 64 bits can count;
/// there `a` and `b` are hashes, together of 120 bits.
struct TreeName {
  std::int64_t a, b;
  auto operator<=>(const TreeName&) const noexcept = default;
};

/// `extents` is the number of positions of the level along each axis; `at.index` counts them from 0.
[[nodiscard]] inline TreeName name_of(const TreeCell& at, const Index3& extents, int dimensions) {
  constexpr std::int64_t below_level = (std::int64_t{1} << level_name_bits) - 1;
  double places = 1;
  std::int64_t number = 0;
  for (int d = dimensions; d-- > 0;) {
    const Index extent = extents[static_cast<std::size_t>(d)];
    places *= static_cast<double>(extent);
    if (places < static_cast<double>(below_level)) number = number * extent + at.index[static_cast<std::size_t>(d)];
  }
  const std::int64_t level = std::int64_t{at.level} << level_name_bits;
  if (places < static_cast<double>(below_level)) return {level | number, level | number};
  std::uint64_t one = 1, other = 2;
  for (const Index i : at.index) {
    one = mixed_bits(one ^ static_cast<std::uint64_t>(i));
    other = mixed_bits(other ^ static_cast<std::uint64_t>(i));
  }
  return {level | (static_cast<std::int64_t>(one) & below_level), static_cast<std::int64_t>(other)};
}

}  // namespace sidestream
