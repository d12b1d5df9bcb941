// Grids of points and the cells of a block. Flagged cells are left out by splitting a block's box. Each row gives runs
// along i; equal runs of neighbouring rows are merged to rectangles, and equal rectangles of neighbouring layers to
// boxes.
#include "sidestream/kit/mesh/point_grid.hpp"

#include <algorithm>
#include <span>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

PointGrid::PointGrid(const Mesh& mesh, Centering centering, Reach reach)
    : centering_(centering), flat_(mesh.dimensions == 2), curved_(mesh.kind() == MeshKind::curvilinear) {
  const Axes* axes = mesh.geometry ? mesh.geometry->axes() : nullptr;
  if (axes == nullptr && !curved_) {
    fail(Code::analysis, "mesh '{}' is {}; only uniform, rectilinear and curvilinear meshes have a grid of points",
         mesh.name, mesh.geometry ? mesh.geometry->kind() : "without geometry");
  }
  Variable any;
  any.centering = centering;
  real_ = any.points(mesh.cells);
  const bool beyond = centering == Centering::cell && reach == Reach::faces && !real_.empty();
  if (flat_) real_.hi[2] = real_.lo[2] + 1;
  points_ = beyond ? grown(real_, 1) : real_;
  if (flat_) {
    points_.lo[2] = real_.lo[2];
    points_.hi[2] = real_.hi[2];
  }
  if (curved_) return;
  if (flat_) positions_[2].push_back(axes->node(2, real_.lo[2]));
  for (int a = 0; a < (flat_ ? 2 : 3); ++a) {
    positions_[a].reserve(static_cast<std::size_t>(points_.extent(a)));
    if (beyond) positions_[a].push_back(axes->node(a, real_.lo[a]));
    for (Index i = real_.lo[a]; i < real_.hi[a]; ++i) positions_[a].push_back(axes->position(centering, a, i));
    if (beyond) positions_[a].push_back(axes->node(a, real_.hi[a]));
  }
}

std::vector<Box> PointGrid::cells_of(const BlockView& view, const BlockView* flags) const {
  std::vector<Box> cells = own_cells(view);
  if (flags == nullptr) return cells;
  std::vector<Box> left;
  for (const Box& box : cells) leave_out(*flags, box, left);
  return left;
}

namespace {

bool same_extents(const Box& a, const Box& b, int axes) {
  for (int c = 0; c < axes; ++c) {
    if (a.lo[c] != b.lo[c] || a.hi[c] != b.hi[c]) return false;
  }
  return true;
}

/// True if two lists of boxes have the same extents on the first axes, one by one.
bool alike(std::span<const Box> a, std::span<const Box> b, int axes) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const Box& x, const Box& y) { return same_extents(x, y, axes); });
}

/// The runs of unflagged cells in a row.
template <class Flagged>
std::vector<Box> runs_of_row(const Box& box, Index j, Index k, const Flagged& flagged) {
  std::vector<Box> row;
  for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
    if (flagged({i, j, k})) continue;
    if (!row.empty() && row.back().hi[0] == i) {
      ++row.back().hi[0];
    } else {
      row.push_back({{i, j, k}, {i + 1, j + 1, k + 1}});
    }
  }
  return row;
}

/// The boxes of a layer; runs that are equal in neighbouring rows are merged.
template <class Flagged>
std::vector<Box> boxes_of_layer(const Box& box, Index k, const Flagged& flagged) {
  std::vector<Box> layer;
  std::size_t before = 0;  // beginning of the previous row's runs
  for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
    const std::vector<Box> row = runs_of_row(box, j, k, flagged);
    const std::span<Box> last = std::span(layer).subspan(before);
    if (!row.empty() && !last.empty() && last.back().hi[1] == j && alike(last, row, 1)) {
      for (Box& one : last) ++one.hi[1];
    } else {
      before = layer.size();
      layer.insert(layer.end(), row.begin(), row.end());
    }
  }
  return layer;
}

}  // namespace

/// Adds the unflagged parts of a box as few boxes: runs along i, merged where they are equal in neighbouring rows and
/// layers.
void PointGrid::leave_out(const BlockView& flags, const Box& box, std::vector<Box>& cells) const {
  const int reach = centering_ == Centering::cell ? 1 : 0;  // extent of a cell of the grid from its lowest point
  Box around = box;
  for (int a = 0; a < (flat_ ? 2 : 3); ++a) around.hi[a] += reach;
  std::vector<double> values(static_cast<std::size_t>(around.count()));
  flags.gather(around, 0, values.data());
  const auto flagged = [&](const Index3& p) {
    for (int c = 0; c < (flat_ ? 4 : 8); ++c) {
      const Index3 q{p[0] + (c & 1) * reach, p[1] + (c >> 1 & 1) * reach, p[2] + (c >> 2) * reach};
      const Index n =
          ((q[2] - around.lo[2]) * around.extent(1) + (q[1] - around.lo[1])) * around.extent(0) + (q[0] - around.lo[0]);
      if (values[static_cast<std::size_t>(n)] > 0) return true;  // false for NaN, the value of points that no block has
    }
    return false;
  };
  std::vector<Box> layers;  // boxes that may still grow along k
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    std::vector<Box> layer = boxes_of_layer(box, k, flagged);
    if (!layers.empty() && layers.back().hi[2] == k && alike(layers, layer, 2)) {
      for (Box& one : layers) ++one.hi[2];
    } else {
      cells.insert(cells.end(), layers.begin(), layers.end());
      layers = std::move(layer);
    }
  }
  cells.insert(cells.end(), layers.begin(), layers.end());
}

std::vector<Box> PointGrid::own_cells(const BlockView& view) const {
  std::vector<Box> cells;
  // Cells between nodes are cells of the mesh, and they belong to the block even if others own its nodes. A surface in
  // a block must not depend on a neighbour that has no part of it and may be missing.
  if (centering_ != Centering::cell) {
    const Index top = flat_ ? real_.hi[2] : real_.hi[2] - 1;
    const Box own = intersection(view.block.cells, {real_.lo, {real_.hi[0] - 1, real_.hi[1] - 1, top}});
    if (!view.copy && !own.empty()) cells.push_back(own);
    return cells;
  }
  for (const Box& owned : view.owned) {
    Box box = intersection(owned, real_);
    if (box.empty()) continue;
    for (int a = 0; a < (flat_ ? 2 : 3); ++a) {
      if (box.lo[a] == real_.lo[a]) box.lo[a] = points_.lo[a];
      box.hi[a] = std::min(box.hi[a], points_.hi[a] - 1);
    }
    if (!box.empty()) cells.push_back(box);
  }
  return cells;
}

LevelAxes::LevelAxes(const Mesh& mesh, std::int32_t level)
    : axes_(*mesh.axes()),
      uniform_(dynamic_cast<const UniformGeometry*>(mesh.geometry.get())),
      ratio_(mesh.ratio_to(level)),
      cells_(mesh.cells_on(level)) {}

double LevelAxes::node(int axis, Index index) const {
  const auto a = static_cast<std::size_t>(axis);
  if (ratio_[a] == 1 || uniform_ == nullptr) return axes_.node(axis, index);
  return uniform_->origin()[a] + uniform_->spacing()[a] * (static_cast<double>(index) / static_cast<double>(ratio_[a]));
}

Index LevelAxes::cell_at(int axis, double x, Index near) const {
  const auto a = static_cast<std::size_t>(axis);
  Index low = cells_.lo[a], high = cells_.hi[a];
  const double first = node(axis, low), last = node(axis, high);
  const bool up = first <= last;
  const auto reached = [&](Index index) { return up ? node(axis, index) <= x : node(axis, index) >= x; };
  if (!(up ? x >= first && x <= last : x <= first && x >= last)) return low - 1;
  // Consecutive positions are mostly adjacent.
  for (Index cell = std::max(near, low); cell < std::min(near + 2, high - 1); ++cell) {
    if (reached(cell) && !reached(cell + 1)) return cell;
  }
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (reached(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace sidestream
