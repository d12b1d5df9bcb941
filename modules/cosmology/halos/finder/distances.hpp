// Distances of cells from a halo.
#pragma once

#include <array>
#include <vector>

#include "sidestream/data/block.hpp"

namespace sidestream::halos {

/// An index along an axis, and the square of the distance along that axis.
struct NearPlace {
  Index place = 0;
  double squared = 0;
};

/// Squared distances of cells' middles from one point, in units of coordinates, the shortest along periodic axes. They
/// have the same bits wherever they are computed. `Geometry`: that of the cells, Field or AmrGrid; keeps a reference.
template <class Geometry>
class Distances {
 public:
  /// The point lies `offset` from the middle of a cell. `most`: square of the distance beyond which nothing is near.
  Distances(const Geometry& geometry, std::int32_t level, const Index3& cell, const std::array<double, 3>& offset,
            double most)
      : geometry_(geometry), offset_(offset), most_(most) {
    for (std::size_t a = 0; a < 3; ++a) from_[a] = geometry.middle(level, a, cell[a]);
  }

  [[nodiscard]] double most() const noexcept { return most_; }
  [[nodiscard]] const Index3& from() const noexcept { return from_; }
  [[nodiscard]] const std::array<double, 3>& offset() const noexcept { return offset_; }
  /// Squared distance along one axis, for cells with an index on a level.
  [[nodiscard]] double squared(std::size_t axis, std::int32_t level, Index index) const noexcept {
    if (axis >= static_cast<std::size_t>(geometry_.dimensions())) return 0;
    const auto away =
        static_cast<double>(geometry_.difference(axis, from_[axis], geometry_.middle(level, axis, index)));
    const double length = geometry_.in_coordinates(axis, geometry_.wrapped(axis, away - offset_[axis]));
    return length * length;
  }
  [[nodiscard]] double squared(std::int32_t level, const Index3& cell) const noexcept {
    return squared(0, level, cell[0]) + squared(1, level, cell[1]) + squared(2, level, cell[2]);
  }

  /// Calls `f(squared, place)` for the unflagged cells of a box that are near. First lists the near indices along each
  /// axis, so that the loops visit only the box around the sphere and add three numbers per cell. `first`: the cell of
  /// this level at the mesh's lower end.
  template <class F>
  void for_each_near(const BlockView& view, const Box& box, std::int32_t level, const Index3& first, F&& f) const {
    std::array<std::vector<NearPlace>, 3> near;
    for (std::size_t a = 0; a < 3; ++a) {
      for (Index p = box.lo[a]; p < box.hi[a]; ++p) {
        const double away = squared(a, level, p - first[a]);
        if (away < most_) near[a].push_back({p, away});
      }
      if (near[a].empty()) return;
    }
    for (const NearPlace& x : near[0]) {
      for (const NearPlace& y : near[1]) {
        const double flat = x.squared + y.squared;
        if (!(flat < most_)) continue;
        for (const NearPlace& z : near[2]) {
          const Index3 p{x.place, y.place, z.place};
          if (view.ghosts.data != nullptr && *view.ghosts.at<std::uint8_t>(p[0], p[1], p[2]) != 0) continue;
          if (flat + z.squared < most_) f(flat + z.squared, p);
        }
      }
    }
  }

 private:
  const Geometry& geometry_;
  Index3 from_{};
  std::array<double, 3> offset_;
  double most_;
};

}  // namespace sidestream::halos
