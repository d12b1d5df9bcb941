// Iteration over the points that count as a block's own.
#pragma once

#include <type_traits>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// Calls `f` for the parts of a run of `count` values whose points the simulation did not flag.
template <class T, class F>
void for_each_unflagged(const ArrayView& ghosts, const Index3& first, int axis, const T* values, Index count,
                        Index stride, F&& f) {
  const auto* flags = ghosts.at<std::uint8_t>(first[0], first[1], first[2]);
  const Index step = ghosts.strides[static_cast<std::size_t>(axis)];
  for (Index i = 0; i < count;) {
    Index end = i;
    while (end < count && flags[end * step] == 0) ++end;
    if (end > i) f(values + i * stride, end - i, stride);
    i = end + 1;
  }
}

/// Calls `f(const T* first, Index count, Index stride)`, T being the type of the array, for runs of values of component
/// `c`. Together the runs are the block's points that count (see BlockView::counted; flagged points do not), each once,
/// in no particular order.
template <class F>
void for_each_owned_run(const BlockView& view, int c, F&& f) {
  const ArrayView& array = view.array;
  const int fast = array.strides[2] < array.strides[0] ? 2 : 0, slow = 2 - fast;
  with_type(array.type, [&](auto zero) {
    using T = decltype(zero);
    for (const Box& box : view.counted()) {
      if (box.empty()) continue;
      Index3 p = box.lo;
      for (p[slow] = box.lo[slow]; p[slow] < box.hi[slow]; ++p[slow]) {
        for (p[1] = box.lo[1]; p[1] < box.hi[1]; ++p[1]) {
          const T* first = array.at<T>(p[0], p[1], p[2], c);
          if (view.ghosts.data == nullptr) {
            f(first, box.extent(fast), array.strides[fast]);
          } else {
            for_each_unflagged(view.ghosts, p, fast, first, box.extent(fast), array.strides[fast], f);
          }
        }
      }
    }
  });
}

}  // namespace sidestream
