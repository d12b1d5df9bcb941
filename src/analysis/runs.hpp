// Walking over the points that count as a block's own.
#pragma once

#include <type_traits>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// Calls `f(const T* first, Index count, Index stride)`, T the type of the array, for runs of values of
/// component `c` that together are the block's owned points, each once, in no particular order.
template <class F>
void for_each_owned_run(const BlockView& view, int c, F&& f) {
  const ArrayView& array = view.array;
  const int fast = array.strides[2] < array.strides[0] ? 2 : 0, slow = 2 - fast;
  with_type(array.type, [&](auto zero) {
    using T = decltype(zero);
    for (const Box& box : view.owned) {
      if (box.empty()) continue;
      Index3 p = box.lo;
      for (p[slow] = box.lo[slow]; p[slow] < box.hi[slow]; ++p[slow]) {
        for (p[1] = box.lo[1]; p[1] < box.hi[1]; ++p[1]) {
          f(array.at<T>(p[0], p[1], p[2], c), box.extent(fast), array.strides[fast]);
        }
      }
    }
  });
}

}  // namespace sidestream
