#include "visualisation/graphics/light_slabs.hpp"

#include <limits>

namespace sidestream::rendering {

DepthSlabs::DepthSlabs(const Camera& camera, const Domain& domain) {
  double nearest = std::numeric_limits<double>::infinity(), farthest = -nearest;
  for (int c = 0; c < 8; ++c) {
    const double ahead = camera.see(domain.corner(c)).ahead;
    nearest = std::min(nearest, ahead);
    farthest = std::max(farthest, ahead);
  }
  if (!camera.parallel()) nearest = std::max(nearest, camera.near());
  first_ = nearest;
  thickness_ = farthest > nearest ? (farthest - nearest) / count : 1;
  inverse_ = 1 / thickness_;
}

void add_up(std::vector<SlabRecord>& row) {
  const auto before = [](const SlabRecord& a, const SlabRecord& b) {
    return a.column != b.column ? a.column < b.column : a.slab < b.slab;
  };
  // One server's slabs are in order.
  if (!std::is_sorted(row.begin(), row.end(), before)) std::sort(row.begin(), row.end(), before);
  std::size_t kept = 0;
  for (const SlabRecord& record : row) {
    if (kept > 0 && row[kept - 1].column == record.column && row[kept - 1].slab == record.slab) {
      row[kept - 1].light.add(record.light);
    } else {
      row[kept++] = record;
    }
  }
  row.resize(kept);
}

}  // namespace sidestream::rendering
