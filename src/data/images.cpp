#include "data/images.hpp"

#include <algorithm>

namespace sidestream {

namespace {

/// A range of indices on one axis of the mesh, and the shift to the requested image.
struct Stretch {
  Index lo, hi, shift;
};

void add(std::vector<Stretch>& all, Index lo, Index hi, Index shift) {
  if (lo < hi) all.push_back({lo, hi, shift});
}

/// Appends the ranges for `lo` to `hi`; the mesh has the points from `first` to `end` and repeats after `period`.
std::vector<Stretch> stretches(Index lo, Index hi, Index first, Index end, Index period) {
  std::vector<Stretch> all;
  add(all, std::max(lo, first), std::min(hi, end), 0);
  for (Index at = first; at > lo; at -= period) {
    const Index shift = at - period - first;
    add(all, std::max(lo, at - period) - shift, std::min(hi, at) - shift, shift);
  }
  for (Index at = end; at < hi; at += period) {
    const Index shift = at + period - end;
    add(all, std::max(lo, at) - shift, std::min(hi, at + period) - shift, shift);
  }
  return all;
}

}  // namespace

std::vector<PeriodicImage> images_of(const Box& region, const Box& cells, Centering centering,
                                     const std::array<bool, 3>& periodic, bool owned) {
  std::vector<PeriodicImage> images;
  if (cells.empty() || region.empty()) return images;
  const Box points = points_of(centering, cells);
  std::array<std::vector<Stretch>, 3> axes;
  for (std::size_t a = 0; a < 3; ++a) {
    const int axis = static_cast<int>(a);
    if (periodic[a]) {
      const Index end = owned ? cells.hi[a] : points.hi[a];
      axes[a] = stretches(region.lo[a], region.hi[a], points.lo[a], end, cells.extent(axis));
    } else {
      add(axes[a], std::max(region.lo[a], points.lo[a]), std::min(region.hi[a], points.hi[a]), 0);
    }
  }
  for (const Stretch& k : axes[2]) {
    for (const Stretch& j : axes[1]) {
      for (const Stretch& i : axes[0]) {
        if (i.shift == 0 && j.shift == 0 && k.shift == 0) continue;
        images.push_back({{{i.lo, j.lo, k.lo}, {i.hi, j.hi, k.hi}}, {i.shift, j.shift, k.shift}});
      }
    }
  }
  return images;
}

}  // namespace sidestream
