#include "analysis/point_grid.hpp"

#include "base/fail.hpp"

namespace sidestream {

PointGrid::PointGrid(const Mesh& mesh, Centering centering, Reach reach)
    : centering_(centering), flat_(mesh.dimensions == 2), curved_(mesh.kind() == MeshKind::curvilinear) {
  const Axes* axes = mesh.geometry ? mesh.geometry->axes() : nullptr;
  if (axes == nullptr && !curved_) {
    fail(Code::analysis, "mesh '{}' is {}; a grid of points is had of uniform, rectilinear and curvilinear meshes only",
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

std::vector<Box> PointGrid::cells_of(const BlockView& view) const {
  std::vector<Box> cells;
  // Cells between nodes are cells of the mesh, and those are the block's whoever owns its nodes: a surface in a block
  // must not depend on a neighbour that has no part of it and may not be there.
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

}  // namespace sidestream
