#include <limits>

#include "sidestream/data/block.hpp"
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

std::vector<Box> BlockView::counted() const {
  std::vector<Box> rest = owned;
  for (Box box : covered) {
    // The points of a cell extend beyond its index box as far as the block's points extend beyond the block's cells.
    for (std::size_t a = 0; a < 3; ++a) box.hi[a] += points.hi[a] - block.cells.hi[a];
    rest = difference(rest, box);
  }
  return rest;
}

std::int64_t BlockView::gather(const Box& region, int c, double* out) const {
  const Index total = region.count();
  Index filled = 0;
  // The block's own points and the halo pieces are disjoint; a region that they cover completely is not filled first.
  for (const Box& box : owned) filled += intersection(box, region).count();
  for (const HaloPiece& piece : halo) filled += intersection(piece.box, region).count();
  if (filled < total) {
    for (Index n = 0; n < total; ++n) out[n] = std::numeric_limits<double>::quiet_NaN();
  }
  for (const Box& box : owned) copy_to_double(array, c, intersection(box, region), out, region);
  for (const HaloPiece& piece : halo) {
    copy_to_double(piece.array, c, intersection(piece.box, region), out, region);
  }
  return total - filled;
}

}  // namespace sidestream
