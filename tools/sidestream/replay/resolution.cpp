#include "resolution.hpp"

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

Resampling::Resampling(const Mesh& mesh, const Resolution& wanted)
    : interpolation_(wanted.interpolation),
      stored_size_{mesh.cells.extent(0), mesh.cells.extent(1), mesh.cells.extent(2)} {
  if (wanted.refine > 1 && mesh.kind() == MeshKind::curvilinear) {
    fail(Code::usage, "mesh '{}' has its nodes in a variable, between which there are no others; leave out --refine",
         mesh.name);
  }
  for (int a = 0; a < 3; ++a) {
    size_[a] = mesh.cells.extent(a);
    if (a >= mesh.dimensions || size_[a] == 1) continue;
    if (size_[a] % wanted.coarsen != 0) {
      fail(Code::usage, "mesh '{}' has {} cells along axis {}, expected a multiple of {} for --coarsen {}", mesh.name,
           size_[a], "xyz"[a], wanted.coarsen, wanted.coarsen);
    }
    coarsen_[a] = wanted.coarsen;
    refine_[a] = wanted.refine;
    size_[a] = size_[a] / wanted.coarsen * wanted.refine;
    if (mesh.kind() == MeshKind::rectilinear) {
      nodes_[a] = static_cast<const RectilinearGeometry&>(*mesh.geometry).nodes(a);
    }
  }
}

double Resampling::spacing(int axis, double stored) const noexcept {
  return stored * static_cast<double>(coarsen_[axis]) / static_cast<double>(refine_[axis]);
}

std::vector<double> Resampling::nodes(int axis, const std::vector<double>& stored) const {
  std::vector<double> nodes;
  for (Index n = 0; n <= size_[axis]; ++n) {
    const Index whole = n / refine_[axis] * coarsen_[axis], part = n % refine_[axis];
    double at = stored.at(static_cast<std::size_t>(whole));
    if (part > 0) {
      const double share = static_cast<double>(part) / static_cast<double>(refine_[axis]);
      at += (stored.at(static_cast<std::size_t>(whole + 1)) - at) * share;
    }
    nodes.push_back(at);
  }
  return nodes;
}

Index Resampling::source(int axis, Index index, Centering centering) const noexcept {
  // The middle one of the cells that become one, or the one below the middle.
  const Index middle = at_nodes(centering, axis) ? 0 : (coarsen_[axis] - 1) / 2;
  return index / refine_[axis] * coarsen_[axis] + middle;
}

Box Resampling::stored(const Box& points, const Variable& variable) const {
  if (points.empty()) return {};
  Box box;
  for (int a = 0; a < 3; ++a) {
    const Index points_of_axis = stored_size_[a] + (at_nodes(variable.centering, a) ? 1 : 0);
    const Index more = has_slope(a, variable) ? 1 : 0;
    box.lo[a] = std::max<Index>(0, taps(a, points.lo[a], variable).front().source - more);
    box.hi[a] = std::min(points_of_axis, taps(a, points.hi[a] - 1, variable).back().source + 1 + more);
  }
  return box;
}

}  // namespace sidestream
