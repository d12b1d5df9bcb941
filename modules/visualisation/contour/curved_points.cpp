// Positions of points on curvilinear grids. Node coordinates are read in place from the block's own array, or found in
// the halo. Cell centres, which are the points of cell-centred variables, are means of eight nodes, added in the same
// order (pairs along i, j, k) in every block so that the bits agree. Dense access gathers a box of positions once.
#include "visualisation/contour/curved_points.hpp"

#include <limits>
#include <type_traits>

namespace sidestream {

namespace {

constexpr double no_place = std::numeric_limits<double>::quiet_NaN();

Box mesh_nodes(const Mesh& mesh, const Metadata& metadata) {
  return metadata.variables.at(static_cast<std::size_t>(mesh.array(Role::coordinates))).points(mesh.cells);
}

std::array<double, 3> plus(const std::array<double, 3>& a, const std::array<double, 3>& b) noexcept {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}

/// Sums of the differences between the upper and the lower corners of a cell along each of its first `axes` axes.
std::array<std::array<double, 3>, 3> spans(const CurvedPoints& places, const Index3& cell, int axes) {
  std::array<std::array<double, 3>, 3> spans{};
  for (int corner = 0; corner < 1 << axes; ++corner) {
    const std::array<double, 3> x =
        places.at({cell[0] + (corner & 1), cell[1] + (corner >> 1 & 1), cell[2] + (corner >> 2)});
    for (int a = 0; a < axes; ++a) {
      const double sign = corner >> a & 1 ? 1 : -1;
      for (std::size_t d = 0; d < 3; ++d) spans[static_cast<std::size_t>(a)][d] += sign * x[d];
    }
  }
  return spans;
}

}  // namespace

Box NodeNumbers::around(const Box& region) const {
  if (grid_.centering() != Centering::cell) return region;
  Box box;
  for (int a = 0; a < 3; ++a) {
    // Cell c lies between nodes c and c + 1.
    box.lo[a] = std::clamp(region.lo[a], nodes_.lo[a], nodes_.hi[a] - 1);
    box.hi[a] = std::clamp(region.hi[a], nodes_.lo[a], nodes_.hi[a] - 1) + 1;
  }
  return box;
}

void NodeNumbers::take(const std::vector<double>& values, const Box& region, double* out) const {
  if (grid_.centering() != Centering::cell) {
    std::copy_n(values.begin(), region.count(), out);
    return;
  }
  const Box from = around(region);
  const Index row = from.extent(0), plane = row * from.extent(1), count = region.extent(0);
  // Points from first to last have a node on either side.
  const Index first = std::clamp<Index>(nodes_.lo[0] - region.lo[0], 0, count);
  const Index last = std::clamp<Index>(nodes_.hi[0] - 1 - region.lo[0], first, count);
  for (Index k = region.lo[2]; k < region.hi[2]; ++k) {
    for (Index j = region.lo[1]; j < region.hi[1]; ++j, out += count) {
      const double* rows[4];
      for (int n = 0; n < 4; ++n) {
        rows[n] =
            values.data() + (next_to(k, n >> 1, 2) - from.lo[2]) * plane + (next_to(j, n & 1, 1) - from.lo[1]) * row;
      }
      const auto mean = [&](Index low, Index high) {
        const auto pair = [&](int n) { return rows[n][low] + rows[n][high]; };
        return 0.125 * ((pair(0) + pair(1)) + (pair(2) + pair(3)));
      };
      const auto at_rim = [&](Index i) {
        return mean(next_to(region.lo[0] + i, 0, 0) - from.lo[0], next_to(region.lo[0] + i, 1, 0) - from.lo[0]);
      };
      for (Index i = 0; i < first; ++i) out[i] = at_rim(i);
      const Index shift = region.lo[0] - from.lo[0];
      for (Index i = first; i < last; ++i) out[i] = mean(shift + i, shift + i + 1);
      for (Index i = last; i < count; ++i) out[i] = at_rim(i);
    }
  }
}

CurvedPoints::CurvedPoints(const PointGrid& grid, const Mesh& mesh, const Metadata& metadata,
                           const BlockView* coordinates, bool dense)
    : view_(coordinates),
      at_nodes_(grid.centering() != Centering::cell),
      dense_(dense),
      dimensions_(mesh.dimensions),
      nodes_(grid, mesh_nodes(mesh, metadata)) {
  if (view_ == nullptr) return;
  for (const Box& box : view_->owned) {
    if (box.count() > direct_.count()) direct_ = box;
  }
}

std::array<double, 3> CurvedPoints::far_node(const Index3& p) const noexcept {
  if (view_ == nullptr) return {no_place, no_place, no_place};
  for (const Box& box : view_->owned) {
    if (box.contains(p)) return read(view_->array, p);
  }
  for (const HaloPiece& piece : view_->halo) {
    if (piece.box.contains(p)) return read(piece.array, p);
  }
  return {no_place, no_place, no_place};
}

namespace {

/// The centre of the cell whose lowest node is at `x`; sums as in CurvedPoints::middle.
template <class C>
std::array<double, 3> middle_at(const C* x, const std::array<Index, 4>& strides) noexcept {
  const auto [i, j, k, next] = strides;
  const auto pair = [step = i](const C* node) { return static_cast<double>(*node) + static_cast<double>(node[step]); };
  std::array<double, 3> middle;
  for (double& m : middle) {
    m = 0.125 * ((pair(x) + pair(x + j)) + (pair(x + k) + pair(x + j + k)));
    x += next;
  }
  return middle;
}

}  // namespace

std::array<double, 3> CurvedPoints::middle(const Index3& cell) const noexcept {
  if (dimensions_ == 3 && direct_.contains(Box{cell, {cell[0] + 2, cell[1] + 2, cell[2] + 2}})) {
    const ArrayView& array = view_->array;
    return array.type == Type::float32 ? middle_at(array.at<float>(cell[0], cell[1], cell[2]), array.strides)
                                       : middle_at(array.at<double>(cell[0], cell[1], cell[2]), array.strides);
  }
  std::array<double, 3> sums[2][2];
  const Index low = nodes_.next_to(cell[0], 0, 0), high = nodes_.next_to(cell[0], 1, 0);
  for (int n = 0; n < 4; ++n) {
    const Index j = nodes_.next_to(cell[1], n & 1, 1), k = nodes_.next_to(cell[2], n >> 1, 2);
    sums[n >> 1][n & 1] = plus(node({low, j, k}), node({high, j, k}));
  }
  std::array<double, 3> sum = plus(plus(sums[0][0], sums[0][1]), plus(sums[1][0], sums[1][1]));
  for (double& x : sum) x *= 0.125;
  return sum;
}

void CurvedPoints::move_to(const Box& points) {
  if (!dense_ || box_ == points) return;
  box_ = points;
  places_.resize(static_cast<std::size_t>(points.count()));
  if (view_ != nullptr && !at_nodes_) return take_means();
  const double third = view_ != nullptr && dimensions_ < 3 ? 0 : no_place;
  std::fill(places_.begin(), places_.end(), std::array<double, 3>{no_place, no_place, third});
  if (view_ == nullptr) return;
  for (const Box& box : view_->owned) copy_nodes(view_->array, intersection(box, points));
  for (const HaloPiece& piece : view_->halo) copy_nodes(piece.array, intersection(piece.box, points));
}

void CurvedPoints::copy_nodes(const ArrayView& array, const Box& part) {
  if (part.empty()) return;
  for (Index k = part.lo[2]; k < part.hi[2]; ++k) {
    for (Index j = part.lo[1]; j < part.hi[1]; ++j) {
      auto* to = places_.data() +
                 (((k - box_.lo[2]) * box_.extent(1) + (j - box_.lo[1])) * box_.extent(0) + (part.lo[0] - box_.lo[0]));
      for (Index i = part.lo[0]; i < part.hi[0]; ++i) *to++ = read(array, {i, j, k});
    }
  }
}

void CurvedPoints::take_means() {
  const Box nodes = nodes_.around(box_);
  means_.resize(places_.size());
  for (auto& place : places_) place = {0, 0, 0};
  for (int d = 0; d < dimensions_; ++d) {
    scratch_.resize(static_cast<std::size_t>(nodes.count()));
    view_->gather(nodes, d, scratch_.data());
    nodes_.take(scratch_, box_, means_.data());
    for (std::size_t p = 0; p < places_.size(); ++p) places_[p][static_cast<std::size_t>(d)] = means_[p];
  }
}

double CurvedPoints::volume(const Index3& cell) const noexcept {
  const std::array<double, 3> o = at(cell);
  std::array<std::array<double, 3>, 3> edges;
  for (std::size_t a = 0; a < 3; ++a) {
    Index3 next = cell;
    ++next[a];
    edges[a] = at(next);
    for (std::size_t d = 0; d < 3; ++d) edges[a][d] -= o[d];
  }
  const double corner = curved::dot(edges[0], curved::cross(edges[1], edges[2]));
  if (corner < 0 || corner > 0) return corner;
  const auto [u, v, w] = spans(*this, cell, 3);  // the cell is degenerate there
  return curved::dot(u, curved::cross(v, w));
}

double CurvedPoints::area(const Index3& cell) const noexcept {
  const auto [u, v, w] = spans(*this, cell, 2);
  return curved::cross(u, v)[2];
}

CurvedPlaneSource::CurvedPlaneSource(const PointGrid& grid, const Mesh& mesh, const Metadata& metadata,
                                     const BlockView* coordinates, const Plane& plane)
    : view_(coordinates),
      at_nodes_(grid.centering() != Centering::cell),
      dimensions_(mesh.dimensions),
      plane_(plane),
      nodes_(grid, mesh_nodes(mesh, metadata)) {}

void CurvedPlaneSource::fill(const Box& region, double* out) {
  if (view_ == nullptr) {
    std::fill_n(out, region.count(), no_place);
    return;
  }
  if (at_nodes_) return fill_nodes(region, out);
  const Box nodes = nodes_.around(region);
  distances_.resize(static_cast<std::size_t>(nodes.count()));
  fill_nodes(nodes, distances_.data());
  nodes_.take(distances_, region, out);
}

void CurvedPlaneSource::fill_nodes(const Box& region, double* out) const {
  Index filled = 0;
  for (const Box& box : view_->owned) filled += intersection(box, region).count();
  for (const HaloPiece& piece : view_->halo) filled += intersection(piece.box, region).count();
  if (filled < region.count()) std::fill_n(out, region.count(), no_place);
  for (const Box& box : view_->owned) fill_from(view_->array, intersection(box, region), region, out);
  for (const HaloPiece& piece : view_->halo) fill_from(piece.array, intersection(piece.box, region), region, out);
}

void CurvedPlaneSource::fill_from(const ArrayView& array, const Box& part, const Box& region, double* out) const {
  if (part.empty()) return;
  const double nx = plane_.normal[0], ny = plane_.normal[1], nz = plane_.normal[2];
  const double x = plane_.origin[0], y = plane_.origin[1], z = plane_.origin[2];
  const auto rows = [&](auto zero, auto step, auto next) {
    using From = decltype(zero);
    for (Index k = part.lo[2]; k < part.hi[2]; ++k) {
      for (Index j = part.lo[1]; j < part.hi[1]; ++j) {
        double* to = out + ((k - region.lo[2]) * region.extent(1) + (j - region.lo[1])) * region.extent(0) +
                     (part.lo[0] - region.lo[0]);
        const From* from = array.at<From>(part.lo[0], j, k);
        for (Index i = 0; i < part.extent(0); ++i) {
          const From* p = from + i * step;
          const double third = dimensions_ > 2 ? static_cast<double>(p[2 * next]) : 0.0;
          to[i] = nx * (static_cast<double>(p[0]) - x) + ny * (static_cast<double>(p[next]) - y) + nz * (third - z);
        }
      }
    }
  };
  const auto strided = [&](auto zero) {
    using One = std::integral_constant<Index, 1>;  // constant strides allow vector instructions
    const Index step = array.strides[0], next = array.strides[3];
    if (step == 3 && next == 1) {
      rows(zero, std::integral_constant<Index, 3>{}, One{});
    } else if (step == 1) {
      rows(zero, One{}, next);
    } else {
      rows(zero, step, next);
    }
  };
  if (array.type == Type::float32) {
    strided(float{});
  } else {
    strided(double{});
  }
}

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
