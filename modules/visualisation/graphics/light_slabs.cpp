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

}  // namespace sidestream::rendering
