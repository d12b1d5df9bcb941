// Random parts of arrays, as codecs get them in chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "sidestream/extend/codec.hpp"

namespace sidestream::testing {

/// A chunk of `count` elements of an array.
struct ArrayPart {
  ChunkPlace place{};
  std::size_t count = 0;
};

/// A part of an array of one to three dimensions with one to four components: often up to the end, perhaps empty.
[[nodiscard]] inline ArrayPart random_part(std::mt19937& random) {
  ArrayPart part;
  ChunkPlace& place = part.place;
  for (std::uint64_t& extent : place.points) extent = random() % 3 == 0 ? 1 : 1 + random() % 20;
  place.components = random() % 2 == 0 ? 1 : 1 + random() % 4;
  const std::uint64_t all = place.points[0] * place.points[1] * place.points[2] * place.components;
  place.first = random() % all;
  part.count = random() % 4 == 0 ? all - place.first : random() % (all - place.first + 1);
  return part;
}

}  // namespace sidestream::testing
