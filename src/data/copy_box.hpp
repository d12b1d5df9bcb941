// Copying of values from one array into another.
#pragma once

#include "sidestream/data/array.hpp"

namespace sidestream {

/// Copies all components of the values of `box`, which lies in both arrays. Both arrays have the same type and number
/// of components; the memory of `to` must be writable.
void copy_box(const ArrayView& from, const ArrayView& to, const Box& box);

/// Marks the values of `box`, which lies in the array, as missing: a quiet NaN, or 0 for whole numbers.
void erase_box(const ArrayView& array, const Box& box);

}  // namespace sidestream
