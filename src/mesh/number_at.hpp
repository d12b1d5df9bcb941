// Elements of arrays as real numbers, whatever their type.
#pragma once

#include "sidestream/data/array.hpp"

namespace sidestream {

/// A component of one point of an array.
[[nodiscard]] inline double number_at(const ArrayView& array, const Index3& p, int component) {
  return with_type(array.type, [&](auto zero) {
    return static_cast<double>(*array.at<decltype(zero)>(p[0], p[1], p[2], component));
  });
}

}  // namespace sidestream
