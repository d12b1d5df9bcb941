// Coordinates of the points around a block.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "server/derived/derived_field.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// Coordinates of the points of a variable's centring in a region around a block. On meshes with axes they follow from
/// global indices. On curvilinear meshes they are the coordinates of nodes, or, between nodes, means of the surrounding
/// ones, taken axis by axis. On lists they are the points' coordinates.
class DerivedPoints {
 public:
  /// `coordinates`: view of the mesh's coordinates around the same block; null if the mesh has axes, or if coordinates
  /// are not needed.
  DerivedPoints(const Mesh& mesh, std::int32_t level, Centering centering, const Box& region,
                const BlockView* coordinates);

  [[nodiscard]] bool curved() const noexcept { return curved_; }
  /// Spacing along an axis if it is uniform, otherwise 0.
  [[nodiscard]] double spacing(int axis) const noexcept { return spacing_[static_cast<std::size_t>(axis)]; }
  /// Coordinate on a mesh with axes; continues beyond the faces of a periodic mesh.
  [[nodiscard]] double along(int axis, Index index) const noexcept {
    const auto a = static_cast<std::size_t>(axis);
    return places_[a][static_cast<std::size_t>(index - region_.lo[a])];
  }
  /// Coordinate on any mesh. Beyond the faces of a periodic mesh it is the coordinate of the point's periodic image.
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
