#include "analysis/curved_points.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sidestream {
namespace {

constexpr double nowhere = std::numeric_limits<double>::quiet_NaN();

Box mesh_nodes(const Mesh& mesh, const Metadata& metadata) {
  return metadata.variables.at(static_cast<std::size_t>(mesh.array(Role::coordinates))).points(mesh.cells);
}

/// Adds what lies between the lower and the upper corners of a cell along each of its first `axes` axes.
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

void NodeNumbers::take(std::vector<double>& values, const Box& region, double* out) {
  if (grid_.centering() != Centering::cell) {
    std::copy_n(values.begin(), region.count(), out);
    return;
  }
  // One axis after another: the order of the sums is the same for every block.
  Box from = around(region), to = from;
  to.lo[0] = region.lo[0], to.hi[0] = region.hi[0];
  scratch_.resize(static_cast<std::size_t>(to.count()));
  halve(0, from, values, to, scratch_.data());
  from = to;
  to.lo[1] = region.lo[1], to.hi[1] = region.hi[1];
  values.resize(static_cast<std::size_t>(to.count()));
  halve(1, from, scratch_, to, values.data());
  halve(2, to, values, region, out);
}

/// Means of neighbours along an axis, of a node with itself beyond the mesh.
void NodeNumbers::halve(int axis, const Box& from, const std::vector<double>& values, const Box& to,
                        double* out) const {
  const auto node = [&](Index i) { return std::clamp(i, nodes_.lo[axis], nodes_.hi[axis] - 1) - from.lo[axis]; };
  const Index row = from.extent(0), plane = row * from.extent(1), count = to.extent(0);
  for (Index k = to.lo[2]; k < to.hi[2]; ++k) {
    const Index z = axis == 2 ? node(k) : k - to.lo[2], z2 = axis == 2 ? node(k + 1) : z;
    for (Index j = to.lo[1]; j < to.hi[1]; ++j, out += count) {
      const Index y = axis == 1 ? node(j) : j - to.lo[1], y2 = axis == 1 ? node(j + 1) : y;
      const double* a = values.data() + z * plane + y * row;
      const double* b = values.data() + z2 * plane + y2 * row;
      if (axis == 0) {
        const auto mean = [&](Index i) { return 0.5 * (a[node(to.lo[0] + i)] + a[node(to.lo[0] + i + 1)]); };
        const Index first = std::max<Index>(0, nodes_.lo[0] - to.lo[0]);
        const Index last = std::min(count, nodes_.hi[0] - 1 - to.lo[0]);
        for (Index i = 0; i < std::min(first, count); ++i) out[i] = mean(i);
        const double* lower = a + (to.lo[0] - from.lo[0]);
        for (Index i = first; i < last; ++i) out[i] = 0.5 * (lower[i] + lower[i + 1]);
        for (Index i = std::max(first, last); i < count; ++i) out[i] = mean(i);
      } else {
        for (Index i = 0; i < count; ++i) out[i] = 0.5 * (a[i] + b[i]);
      }
    }
  }
}

CurvedPoints::CurvedPoints(const PointGrid& grid, const Mesh& mesh, const Metadata& metadata,
                           const BlockView* coordinates, bool dense)
    : view_(coordinates),
      at_nodes_(grid.centering() != Centering::cell),
      direct_only_(at_nodes_ && !dense),
      dimensions_(mesh.dimensions),
      nodes_(grid, mesh_nodes(mesh, metadata)) {
  if (view_ == nullptr) return;
  for (const Box& box : view_->owned) {
    if (box.count() > direct_.count()) direct_ = box;
  }
}

std::array<double, 3> CurvedPoints::node(const Index3& p) const noexcept {
  if (view_ == nullptr) return {nowhere, nowhere, nowhere};
  for (const Box& box : view_->owned) {
    if (box.contains(p)) return read(view_->array, p);
  }
  for (const HaloPiece& piece : view_->halo) {
    if (piece.box.contains(p)) return read(piece.array, p);
  }
  return {nowhere, nowhere, nowhere};
}

void CurvedPoints::move_to(const Box& points) {
  if (direct_only_ || box_ == points) return;
  box_ = points;
  places_.resize(static_cast<std::size_t>(points.count()));
  if (view_ != nullptr && !at_nodes_) return take_means();
  const double third = view_ != nullptr && dimensions_ < 3 ? 0 : nowhere;
  std::fill(places_.begin(), places_.end(), std::array<double, 3>{nowhere, nowhere, third});
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
  const auto [u, v, w] = spans(*this, cell, 3);  // of a cell that has collapsed there
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
    std::fill_n(out, region.count(), nowhere);
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
  if (filled < region.count()) std::fill_n(out, region.count(), nowhere);
  for (const Box& box : view_->owned) fill_from(view_->array, intersection(box, region), region, out);
  for (const HaloPiece& piece : view_->halo) fill_from(piece.array, intersection(piece.box, region), region, out);
}

void CurvedPlaneSource::fill_from(const ArrayView& array, const Box& part, const Box& region, double* out) const {
  if (part.empty()) return;
  const double nx = plane_.normal[0], ny = plane_.normal[1], nz = plane_.normal[2];
  const double x = plane_.origin[0], y = plane_.origin[1], z = plane_.origin[2];
  const Index step = array.strides[0], next = array.strides[3];
  const auto row = [&](const auto* from, double* to) {
    for (Index i = 0; i < part.extent(0); ++i, from += step) {
      const double third = dimensions_ > 2 ? static_cast<double>(from[2 * next]) : 0.0;
      to[i] = nx * (static_cast<double>(from[0]) - x) + ny * (static_cast<double>(from[next]) - y) + nz * (third - z);
    }
  };
  for (Index k = part.lo[2]; k < part.hi[2]; ++k) {
    for (Index j = part.lo[1]; j < part.hi[1]; ++j) {
      double* to = out + ((k - region.lo[2]) * region.extent(1) + (j - region.lo[1])) * region.extent(0) +
                   (part.lo[0] - region.lo[0]);
      if (array.type == Type::float32) {
        row(array.at<float>(part.lo[0], j, k), to);
      } else {
        row(array.at<double>(part.lo[0], j, k), to);
      }
    }
  }
}

}  // namespace sidestream
