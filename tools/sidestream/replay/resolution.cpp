#include "resolution.hpp"

#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

Resampling::Resampling(const Mesh& mesh, const Resolution& wanted) {
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

Box Resampling::stored(const Box& points, Centering centering) const noexcept {
  if (points.empty()) return {};
  Box box;
  for (int a = 0; a < 3; ++a) {
    box.lo[a] = source(a, points.lo[a], centering);
    box.hi[a] = source(a, points.hi[a] - 1, centering) + 1;
  }
  return box;
}

void Resampling::pick(const Box& points, Centering centering, Order order, std::size_t point_bytes,
                      std::span<const std::byte> from, std::span<std::byte> to) const {
  const Box box = stored(points, centering);
  const int fast = order == Order::column ? 0 : 2, slow = 2 - fast;
  std::byte* out = to.data();
  Index3 at;
  for (at[slow] = points.lo[slow]; at[slow] < points.hi[slow]; ++at[slow]) {
    for (at[1] = points.lo[1]; at[1] < points.hi[1]; ++at[1]) {
      for (at[fast] = points.lo[fast]; at[fast] < points.hi[fast]; ++at[fast], out += point_bytes) {
        Index3 there;
        for (int a = 0; a < 3; ++a) there[a] = source(a, at[a], centering) - box.lo[a];
        const Index n = (there[slow] * box.extent(1) + there[1]) * box.extent(fast) + there[fast];
        std::memcpy(out, from.data() + static_cast<std::size_t>(n) * point_bytes, point_bytes);
      }
    }
  }
}

}  // namespace sidestream
