// Values that parts of one global array have in common. Programs write values again: a field, and then its boundary.
//
// The parts have the same shape and type.
#pragma once

#include <cstddef>
#include <vector>

#include "part.hpp"

namespace sidestream::arrays {

/// True if there are such values.
[[nodiscard]] bool overlap(const Part& a, const Part& b);
[[nodiscard]] bool contains(const Part& outer, const Part& inner);
/// The number of these values.
[[nodiscard]] std::size_t common_values(const Part& a, const Part& b);

/// Copies these values to the memory that `to` refers to, which can be written.
void copy_common(const Part& from, const Part& to);

/// The values of a part that another one has not, as boxes.
[[nodiscard]] std::vector<Part> difference(const Part& part, const Part& other);

}  // namespace sidestream::arrays
