// Numbers at the points around a block: inputs of derived variables, intermediate results, and coordinates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"

namespace sidestream {

/// Points of one line of a region: `count` points along i, starting at `first`.
struct PointLine {
  Index3 first{};
  Index count = 0;
};

/// Calls f(line, offset) for each line of the box; `offset` counts the box's points with i fastest.
template <class F>
void for_each_line(const Box& box, F&& f) {
  if (box.empty()) return;
  Index offset = 0;
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j, offset += box.extent(0)) {
      f(PointLine{{box.lo[0], j, k}, box.extent(0)}, offset);
    }
  }
}

/// Contiguous numbers, i fastest, one component after the other.
struct DerivedField {
  Box box;
  std::vector<std::vector<double>> components{};
  [[nodiscard]] std::size_t offset(const Index3& p) const noexcept {
    return static_cast<std::size_t>(((p[2] - box.lo[2]) * box.extent(1) + (p[1] - box.lo[1])) * box.extent(0) +
                                    (p[0] - box.lo[0]));
  }
};

/// One input in a region around a block, as doubles: the values of the blocks that own the points. A node without an
/// owner in the region has the block's own value; all other points are NaN.
class InputValues {
 public:
  /// Keeps references. `region`: the region of all later requests.
  InputValues(const BlockView& view, const Box& region);
  void read(int component, const PointLine& line, double* out);
  /// The points of the region that have values.
  [[nodiscard]] const std::vector<Box>& there() const noexcept { return there_; }

 private:
  const std::vector<double>& gathered(int component);

  const BlockView& view_;
  Box region_;
  bool direct_;             ///< true if the block's own array has all values of the region
  std::vector<Box> own_{};  ///< points that its own array has
  std::vector<Box> there_{};
  DerivedField field_;
};

/// Tells which points of a region have values of all inputs.
class Presence {
 public:
  Presence(const Box& region, const std::vector<const InputValues*>& inputs);
  /// True if all points of the region have values of all inputs.
  [[nodiscard]] bool complete() const noexcept { return missing_.empty(); }
  [[nodiscard]] bool has(const Index3& p) const noexcept {
    if (!region_.contains(p)) return false;
    if (missing_.empty()) return true;
    return !missing_[static_cast<std::size_t>(((p[2] - region_.lo[2]) * region_.extent(1) + (p[1] - region_.lo[1])) *
                                                  region_.extent(0) +
                                              (p[0] - region_.lo[0]))];
  }

 private:
  Box region_;
  std::vector<bool> missing_{};  ///< empty: no point lacks values
};

/// Coordinates of the points of a variable's centring in a region around a block. On meshes with axes they follow from
/// global indices. On curvilinear meshes they are the coordinates of nodes; between nodes they are means of the
/// surrounding nodes, axis by axis. On lists they are the points' coordinates.
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
