// Meshes and fields of the test program, the same for both ways: through Catalyst and through sidestream.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace scene {

using Index3 = std::array<std::int64_t, 3>;

/// A rank's part of a structured mesh along x: cells [lo, hi) of `size`, and one layer of ghosts where `ghosts`.
struct Slab {
  Index3 size{12, 5, 4};
  Index3 lo{0, 0, 0}, hi{0, 0, 0};    ///< owned cells
  Index3 from{0, 0, 0}, to{0, 0, 0};  ///< cells that arrays cover
  int dimensions = 3;
  std::array<double, 3> origin{0.5, -1, 2}, spacing{0.25, 0.5, 0.125};
  [[nodiscard]] Index3 cells() const { return {to[0] - from[0], to[1] - from[1], to[2] - from[2]}; }
  [[nodiscard]] Index3 points() const;
  [[nodiscard]] double node(int axis, std::int64_t index) const {
    return origin[axis] + spacing[axis] * static_cast<double>(index);
  }
  /// A node of the stretched mesh.
  [[nodiscard]] double stretched(int axis, std::int64_t index) const;
  /// The place of a node of the bent mesh.
  [[nodiscard]] std::array<double, 3> bent(const Index3& index) const;
};

Slab slab_of(int rank, int ranks, int dimensions, bool ghosts);

/// Patches of this rank on two levels with a ratio of 2: its slab, and its first layer of cells along x, refined. The
/// level is the position in the result; a rank without cells has none.
std::vector<Slab> patches_of(int rank, int ranks);

double value(double x, double y, double z, double time);

/// Values in the cells or at the points that arrays cover, x fastest, of a mesh without bends.
std::vector<double> values_on(const Slab& slab, bool at_points, double time);

/// Cells of the slab as lists: hexahedra, or with `mixed` also wedges and polyhedra in turn.
struct Lists {
  std::vector<double> places;  ///< x, y, z of each point
  std::vector<std::int64_t> connectivity, sizes, offsets, shapes;
  std::vector<std::int64_t> face_connectivity, face_sizes, face_offsets;  ///< polygons of polyhedra
  std::vector<double> cell_values, point_values;
};
Lists lists_of(const Slab& slab, bool mixed, double time);

}  // namespace scene
