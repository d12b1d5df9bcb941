// The shared memory of one node, as a conformance check needs it.
#pragma once

#include <cstdint>

#include "sidestream/conformance/check.hpp"
#include "transport/shared_memory/node.hpp"

namespace sidestream::test {

inline shared_memory::Extents extents_for(const conformance::Needs& needs) {
  constexpr std::uint64_t rounding = 1 << 16;
  return {needs.bytes + rounding, needs.holds ? 2u : 1u, 0, 2 * needs.bytes + rounding};
}

/// The size of a buffer that is slightly larger than the clients' own parts.
inline std::uint64_t buffer_for(const conformance::Needs& needs, int clients) {
  const shared_memory::Extents own = extents_for(needs);
  constexpr std::uint64_t rest = 1 << 18;
  return static_cast<std::uint64_t>(clients) * (own.home * own.homes + own.keep) + rest;
}

}  // namespace sidestream::test
