#include "overlap.hpp"

#include <algorithm>

namespace sidestream::arrays {

namespace {

/// The indices along an axis that two parts have in common; may be empty.
struct Span {
  Index lo, hi;
};

Span common(const Part& a, const Part& b, std::size_t axis) {
  return {std::max(a.start[axis], b.start[axis]),
          std::min(a.start[axis] + a.count[axis], b.start[axis] + b.count[axis])};
}

/// The indices [lo, hi) of a part along one axis, with the others as they are.
Part narrowed(Part part, std::size_t axis, Span to) {
  part.strides = strides_of(part);
  if (part.data != nullptr) part.data += (to.lo - part.start[axis]) * part.strides[axis];
  part.start[axis] = to.lo;
  part.count[axis] = to.hi - to.lo;
  return part;
}

}  // namespace

bool overlap(const Part& a, const Part& b) { return common_values(a, b) > 0; }

bool contains(const Part& outer, const Part& inner) {
  for (std::size_t axis = 0; axis < inner.count.size(); ++axis) {
    const Span span = common(outer, inner, axis);
    if (span.lo != inner.start[axis] || span.hi != inner.start[axis] + inner.count[axis]) return false;
  }
  return true;
}

std::size_t common_values(const Part& a, const Part& b) {
  std::size_t values = 1;
  for (std::size_t axis = 0; axis < a.count.size(); ++axis) {
    const Span span = common(a, b, axis);
    values *= static_cast<std::size_t>(std::max<Index>(0, span.hi - span.lo));
  }
  return values;
}

void copy_common(const Part& from, const Part& to) {
  if (!overlap(from, to)) return;
  Part source = from, target = to;
  for (std::size_t axis = 0; axis < from.count.size(); ++axis) {
    const Span span = common(from, to, axis);
    source = narrowed(std::move(source), axis, span);
    target = narrowed(std::move(target), axis, span);
  }
  copy_values(source, target);
}

std::vector<Part> difference(const Part& part, const Part& other) {
  if (!overlap(part, other)) return {part};
  std::vector<Part> boxes;
  Part left = part;  // what is before or after the other one along an axis goes to `boxes`, the rest stays
  for (std::size_t axis = 0; axis < part.count.size(); ++axis) {
    const Span span = common(left, other, axis);
    const Index first = left.start[axis], last = first + left.count[axis];
    if (first < span.lo) boxes.push_back(narrowed(left, axis, {first, span.lo}));
    if (span.hi < last) boxes.push_back(narrowed(left, axis, {span.hi, last}));
    left = narrowed(std::move(left), axis, span);
  }
  return boxes;
}

}  // namespace sidestream::arrays
