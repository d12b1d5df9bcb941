#include "data/region_ranges.hpp"

#include "sidestream/kit/data/octree.hpp"

namespace sidestream {

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
