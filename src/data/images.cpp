#include "data/images.hpp"

#include "sidestream/kit/data/octree.hpp"

namespace sidestream {

namespace {

/// A range of indices on one axis of the mesh, and the shift by which it is wanted.
struct Stretch {
  Index lo, hi, shift;
};

void add(std::vector<Stretch>& all, Index lo, Index hi, Index shift) {
  if (lo < hi) all.push_back({lo, hi, shift});
}

/// Appends the ranges for `lo` to `hi`; the mesh has the points from `first` to `end` and repeats itself after
/// `period`.
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

namespace {

Range measure_box(const ArrayView& array, const Box& points, int component) {
  BlockRange measured;
  measure_range(array, intersection(points, array.box), component, measured);
  return measured.all;
}

Range measure_leaves(const RangeRegion& region, const ArrayView& array, const FindArray& array_of) {
  const ArrayView refined = region.refined < 0 ? ArrayView{} : array_of(region.refined, region.block);
  // Without flags all cells may count.
  const bool flagged = refined.data != nullptr && refined.type == Type::uint8 && refined.box == array.box;
  if (!flagged) return measure_box(array, array.box, region.component);
  const ArrayView owned = region.owned < 0 ? ArrayView{} : array_of(region.owned, region.block);
  const bool all_owned = owned.data == nullptr || owned.type != Type::uint8 || !(owned.box == array.box);
  return measure_counted(array, region.component, uncounted_cells(refined, all_owned ? ArrayView{} : owned));
}

}  // namespace

Range measure_region(const RangeRegion& region, const FindArray& array_of) {
  const ArrayView array = array_of(region.variable, region.block);
  if (array.data == nullptr || region.component < 0 || region.component >= array.components) return {};
  if (region.kind == RangeRegion::Kind::leaves) return measure_leaves(region, array, array_of);
  return measure_box(array, region.points, region.component);
}

std::vector<Range> measure_regions(std::span<const RangeRegion> regions, const FindArray& array_of) {
  std::vector<Range> ranges;
  ranges.reserve(regions.size());
  for (const RangeRegion& region : regions) ranges.push_back(measure_region(region, array_of));
  return ranges;
}

}  // namespace sidestream
