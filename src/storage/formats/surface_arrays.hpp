// Helpers shared by formats of surfaces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sidestream/data/surface_stream.hpp"
#include "sidestream/data/type.hpp"

namespace sidestream {

/// Passes the numbers first, first + step, ... in parts, so that they are not all in memory.
inline void give_counting(Type type, std::uint64_t first, std::uint64_t step, std::uint64_t count,
                          const SurfaceStream::Sink& sink) {
  with_type(type, [&](auto zero) {
    std::vector<decltype(zero)> part;
    for (std::uint64_t n = 0; n < count; n += part.size()) {
      part.resize(std::min<std::uint64_t>(4096, count - n));
      for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<decltype(zero)>(first + step * (n + i));
      sink(std::as_bytes(std::span(part)));
    }
  });
}

}  // namespace sidestream
