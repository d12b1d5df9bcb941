#include "visualisation/mesh/field_source.hpp"

#include <algorithm>
#include <limits>

namespace sidestream {

FieldSource::FieldSource(const PointGrid& grid, const Mesh& mesh, const Variable& variable, int component,
                         const BlockView* view)
    : grid_(grid),
      existing_(variable.points(mesh.cells)),
      same_centering_(variable.centering == grid.centering()),
      component_(component),
      view_(view) {}

void FieldSource::fill(const Box& region, double* out) {
  if (view_ == nullptr) {
    std::fill(out, out + region.count(), std::numeric_limits<double>::quiet_NaN());
    return;
  }
  Box real = region;  // the points that supply the values of virtual points too
  for (int a = 0; a < 3; ++a) {
    real.lo[a] = std::clamp(region.lo[a], grid_.real().lo[a], grid_.real().hi[a] - 1);
    real.hi[a] = std::clamp(region.hi[a], grid_.real().lo[a] + 1, grid_.real().hi[a]);
  }
  if (real == region) return fill_real(region, out);
  clamped_.resize(static_cast<std::size_t>(real.count()));
  fill_real(real, clamped_.data());
  const auto at = [&](int a, Index i) { return std::clamp(i, real.lo[a], real.hi[a] - 1) - real.lo[a]; };
  for (Index k = region.lo[2]; k < region.hi[2]; ++k) {
    for (Index j = region.lo[1]; j < region.hi[1]; ++j) {
      const double* row = clamped_.data() + (at(2, k) * real.extent(1) + at(1, j)) * real.extent(0);
      for (Index i = region.lo[0]; i < region.hi[0]; ++i) *out++ = row[at(0, i)];
    }
  }
}

void FieldSource::fill_real(const Box& region, double* out) {
  if (same_centering_) {
    view_->gather(region, component_, out);
  } else {
    average(region, out);
  }
}

void FieldSource::average(const Box& region, double* out) {
  // Cell c lies between nodes c and c + 1; node n between cells n - 1 and n.
  const Index shift = grid_.centering() == Centering::cell ? 0 : -1;
  Box around = region;
  for (int a = 0; a < 3; ++a) {
    around.lo[a] += shift;
    around.hi[a] += shift + 1;
  }
  around = intersection(around, existing_);
  other_.resize(static_cast<std::size_t>(around.count()));
  view_->gather(around, component_, other_.data());
  for (Index k = region.lo[2]; k < region.hi[2]; ++k) {
    for (Index j = region.lo[1]; j < region.hi[1]; ++j) {
      for (Index i = region.lo[0]; i < region.hi[0]; ++i) {
        const Box near =
            intersection(around, {{i + shift, j + shift, k + shift}, {i + shift + 2, j + shift + 2, k + shift + 2}});
        double sum = 0;
        for (Index z = near.lo[2]; z < near.hi[2]; ++z) {
          for (Index y = near.lo[1]; y < near.hi[1]; ++y) {
            const double* row = other_.data() +
                                ((z - around.lo[2]) * around.extent(1) + (y - around.lo[1])) * around.extent(0) -
                                around.lo[0];
            for (Index x = near.lo[0]; x < near.hi[0]; ++x) sum += row[x];
          }
        }
        *out++ = sum / static_cast<double>(near.extent(0) * near.extent(1) * near.extent(2));
      }
    }
  }
}

int halo_for(Centering grid, Centering variable, bool gradients) noexcept {
  // The upper corners of a block's cells lie one point beyond it, and the cells around such a node one further.
  const int averaged = grid != Centering::cell && variable == Centering::cell ? 1 : 0;
  return 1 + averaged + (gradients ? 1 : 0);
}

const BlockView* find_block(const std::vector<BlockView>& views, std::int64_t id) noexcept {
  const auto found = std::lower_bound(views.begin(), views.end(), id, [](const BlockView& view, std::int64_t wanted) {
    return view.block.id < wanted;
  });
  return found != views.end() && found->block.id == id ? &*found : nullptr;
}

}  // namespace sidestream
