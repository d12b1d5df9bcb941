// Where the points around a block are.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "server/derived/derived_field.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// The points of a variable's centring in a region round a block. On axes their places follow from global indices; on
/// curvilinear meshes they are the coordinates of nodes, between nodes the mean of those around, taken along one axis
/// after the other; of lists they are the points' coordinates.
class DerivedPoints {
 public:
  /// `coordinates`: of the mesh round the same block; null where its axes say where it is, or nobody will ask.
  DerivedPoints(const Mesh& mesh, std::int32_t level, Centering centering, const Box& region,
                const BlockView* coordinates);

  [[nodiscard]] bool curved() const noexcept { return curved_; }
  /// The distance of neighbours along an axis where it is the same everywhere, otherwise 0.
  [[nodiscard]] double spacing(int axis) const noexcept { return spacing_[static_cast<std::size_t>(axis)]; }
  /// Of a mesh with axes: goes on beyond the faces of a periodic one.
  [[nodiscard]] double along(int axis, Index index) const noexcept {
    const auto a = static_cast<std::size_t>(axis);
    return places_[a][static_cast<std::size_t>(index - region_.lo[a])];
  }
  /// Of any mesh: beyond the faces of a periodic one that of the point that stands for it.
  [[nodiscard]] double coordinate(int axis, const Index3& p) const noexcept {
    const auto a = static_cast<std::size_t>(axis);
    if (curved_) return field_.components[a][field_.offset(p)];
    return own_[a][static_cast<std::size_t>(p[a] - region_.lo[a])];
  }

 private:
  void find_along(const Mesh& mesh, std::int32_t level, Centering centering, int axis);
  void take_coordinates(const Mesh& mesh, Centering centering, const BlockView& coordinates);

  Box region_;
  bool curved_ = false;
  std::array<double, 3> spacing_{0, 0, 0};
  std::array<std::vector<double>, 3> places_{}, own_{};
  DerivedField field_{};
};

}  // namespace sidestream
