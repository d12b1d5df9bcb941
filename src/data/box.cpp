#include "sidestream/data/box.hpp"

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

Index Box::count() const {
  if (empty()) return 0;
  return checked_multiply(checked_multiply(extent(0), extent(1)), extent(2));
}

std::vector<Box> difference(const Box& box, const Box& hole) {
  std::vector<Box> rest;
  if (box.empty()) return rest;
  const Box middle = intersection(box, hole);
  if (middle.empty()) return {box};
  Box remaining = box;  // shrinks to `middle`, one slab at a time
  for (int axis = 2; axis >= 0; --axis) {
    if (remaining.lo[axis] < middle.lo[axis]) {
      Box slab = remaining;
      slab.hi[axis] = middle.lo[axis];
      rest.push_back(slab);
      remaining.lo[axis] = middle.lo[axis];
    }
    if (remaining.hi[axis] > middle.hi[axis]) {
      Box slab = remaining;
      slab.lo[axis] = middle.hi[axis];
      rest.push_back(slab);
      remaining.hi[axis] = middle.hi[axis];
    }
  }
  return rest;
}

std::vector<Box> difference(const std::vector<Box>& boxes, const Box& hole) {
  std::vector<Box> rest;
  for (const Box& box : boxes) {
    const std::vector<Box> parts = difference(box, hole);
    rest.insert(rest.end(), parts.begin(), parts.end());
  }
  return rest;
}

}  // namespace sidestream
