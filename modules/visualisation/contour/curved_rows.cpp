#include "visualisation/contour/curved_rows.hpp"

#include <limits>

namespace sidestream {
namespace {

bool same_array(const ArrayView& a, const ArrayView& b) {
  return a.data == b.data && a.box == b.box && a.strides == b.strides;
}

/// True if the nodes of a box all come from the block's own array.
bool all_in(const BlockView& view, const Box& box) {
  Index there = 0;
  for (const Box& owned : view.owned) there += intersection(owned, box).count();
  for (const HaloPiece& piece : view.halo) {
    if (same_array(piece.array, view.array)) there += intersection(piece.box, box).count();
  }
  return there == box.count();
}

}  // namespace

template <class C>
NodeRows<C>::NodeRows(const BlockView* coordinates, const Box& box) : view_(coordinates), box_(box), copies_(box) {
  if (view_ == nullptr) return;
  const std::array<Index, 4>& strides = view_->array.strides;
  if (all_in(*view_, box)) {
    direct_ = box;
    step_ = strides[0];
    next_ = strides[3];
    return;
  }
  if (strides[0] != 3 || strides[3] != 1) return;  // copied rows have another layout
  for (const Box& owned : view_->owned) {
    const Box part = intersection(owned, box);
    if (part.extent(0) == box.extent(0) && part.count() > direct_.count()) direct_ = part;
  }
}

template <class C>
const C* NodeRows<C>::copied(Index j, Index k) {
  const auto [to, fresh] = copies_.at(j, k);
  if (fresh) copy(j, k, to);
  return to;
}

template <class C>
void NodeRows<C>::copy(Index j, Index k, C* to) const {
  const Box row{{box_.lo[0], j, k}, {box_.hi[0], j + 1, k + 1}};
  Index there = 0;
  if (view_ != nullptr) {
    for (const Box& owned : view_->owned) there += intersection(owned, row).count();
    for (const HaloPiece& piece : view_->halo) there += intersection(piece.box, row).count();
  }
  if (there < row.count()) std::fill_n(to, 3 * row.extent(0), std::numeric_limits<C>::quiet_NaN());
  if (view_ == nullptr) return;
  for (const Box& owned : view_->owned) copy(view_->array, intersection(owned, row), to);
  for (const HaloPiece& piece : view_->halo) copy(piece.array, intersection(piece.box, row), to);
}

template <class C>
void NodeRows<C>::copy(const ArrayView& array, const Box& part, C* to) const {
  if (part.empty()) return;
  const Index step = array.strides[0], next = array.strides[3];
  const C* from = array.at<C>(part.lo[0], part.lo[1], part.lo[2]);
  to += 3 * (part.lo[0] - box_.lo[0]);
  if (step == 3 && next == 1) {
    std::copy_n(from, 3 * part.extent(0), to);
    return;
  }
  for (Index n = 0; n < part.extent(0); ++n, from += step, to += 3) {
    to[0] = from[0], to[1] = from[next], to[2] = from[2 * next];
  }
}

template class NodeRows<float>;
template class NodeRows<double>;

template <class C>
const double* MiddleRows<C>::row(Index j, Index k) {
  const auto [to, fresh] = middles_.at(j, k);
  if (!fresh) return to;
  // Sums of pairs along i, then j, then k: the same order in every block.
  const C *a = nodes_.row(j, k), *b = nodes_.row(j + 1, k), *c = nodes_.row(j, k + 1), *d = nodes_.row(j + 1, k + 1);
  const auto middle = [&](Index low, Index high) {
    const auto pair = [&](const C* x) { return static_cast<double>(x[low]) + static_cast<double>(x[high]); };
    return 0.125 * ((pair(a) + pair(b)) + (pair(c) + pair(d)));
  };
  const Index count = box_.extent(0), step = nodes_.step(), next = nodes_.next();
  if (nodes_.interleaved()) {
    for (Index n = 0; n < 3 * count; ++n) to[n] = middle(n, n + 3);
    return to;
  }
  for (Index n = 0; n < count; ++n) {
    for (Index x = 0; x < 3; ++x) to[3 * n + x] = middle(n * step + x * next, (n + 1) * step + x * next);
  }
  return to;
}

template class MiddleRows<float>;
template class MiddleRows<double>;

}  // namespace sidestream
