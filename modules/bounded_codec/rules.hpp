// The choice of a box's rules from a sample of its numbers.
#pragma once

#include "bounded_codec/box_coder.hpp"

namespace sidestream::bounded {

/// A number that a value does not have.
inline constexpr std::int64_t no_number = INT64_MIN;

/// Sets the rules of `head`, which has the lattice of the numbers in `memory`.
void choose_rules(const Extents& extents, const BoxMemory& memory, BoxHead& head);

}  // namespace sidestream::bounded
