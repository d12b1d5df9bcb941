// Walking over the points of a block that count, line by line, in several variables at once.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "sidestream/data/block.hpp"

namespace sidestream {

/// A component of a variable's block.
struct BlockField {
  const BlockView* view = nullptr;
  int component = 0;
};

/// A run of `count` numbers along the axis that is fastest in memory, from the one that is `from` numbers behind
/// `first`, as doubles: where they are if they are doubles next to each other, otherwise in `room`.
[[nodiscard]] const double* line_of(const ArrayView& array, int component, const Index3& first, int axis, Index from,
                                    Index count, std::vector<double>& room);

/// Calls f(std::span<const double* const, n>, count) for runs of numbers of n fields in the same points, which together
/// are the first block's points that count, each once. All blocks have these points.
template <std::size_t n, class F>
void for_each_line(const std::array<BlockField, n>& fields, F&& f) {
  const BlockView& view = *fields[0].view;
  const auto& strides = view.array.strides;
  const int fast = strides[2] < strides[0] ? 2 : 0, slow = 2 - fast;
  std::array<std::vector<double>, n> room;
  std::array<const double*, n> lines{};
  constexpr Index most = 4096;  // stays in the nearest cache
  const auto part = [&](Index3 first, Index count) {
    for (std::size_t v = 0; v < n; ++v) {
      lines[v] = line_of(fields[v].view->array, fields[v].component, first, fast, 0, count, room[v]);
    }
    f(std::span<const double* const, n>(lines), count);
  };
  const auto run = [&](Index3 first, Index end) {
    const auto axis = static_cast<std::size_t>(fast);
    for (; first[axis] < end; first[axis] += most) part(first, std::min(most, end - first[axis]));
  };
  const auto plane = [&](Index3 first, Index count) {
    for (Index done = 0; done < count; done += most) {
      for (std::size_t v = 0; v < n; ++v) {
        const ArrayView& array = fields[v].view->array;
        lines[v] = line_of(array, fields[v].component, first, fast, done, std::min(most, count - done), room[v]);
      }
      f(std::span<const double* const, n>(lines), std::min(most, count - done));
    }
  };
  for (const Box& box : view.counted()) {
    Index3 p = box.lo;
    // Lines that follow each other without a gap are one.
    bool whole = view.ghosts.data == nullptr && box.extent(fast) > 0;
    for (const BlockField& field : fields) {
      const auto& own = field.view->array.strides;
      whole = whole && own[1] == own[static_cast<std::size_t>(fast)] * box.extent(fast);
    }
    if (whole) {
      for (p[slow] = box.lo[slow]; p[slow] < box.hi[slow]; ++p[slow]) plane(p, box.extent(fast) * box.extent(1));
      continue;
    }
    for (p[slow] = box.lo[slow]; p[slow] < box.hi[slow]; ++p[slow]) {
      for (p[1] = box.lo[1]; p[1] < box.hi[1]; ++p[1]) {
        if (view.ghosts.data == nullptr) {
          run(p, box.hi[fast]);
          continue;
        }
        Index3 first = p;
        for (Index i = box.lo[fast]; i <= box.hi[fast]; ++i) {
          Index3 here = p;
          here[fast] = i;
          if (i < box.hi[fast] && *view.ghosts.at<std::uint8_t>(here[0], here[1], here[2]) == 0) continue;
          run(first, i);
          first[fast] = i + 1;
        }
      }
    }
  }
}

}  // namespace sidestream
