// Maps a region to its periodic images.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "sidestream/data/mesh.hpp"

namespace sidestream {

/// Points of the mesh that represent points of a region: `source` + `shift` lies in the region.
struct PeriodicImage {
  Box source;
  Index3 shift{};
};

/// `box`, shifted.
[[nodiscard]] constexpr Box moved(Box box, const Index3& shift) noexcept {
  for (std::size_t a = 0; a < 3; ++a) {
    box.lo[a] += shift[a];
    box.hi[a] += shift[a];
  }
  return box;
}

/// `box` clipped to the faces of the mesh along axes that end there or that it does not use.
[[nodiscard]] inline Box within_faces(Box box, const Mesh& mesh, const Box& points, bool wrap) {
  for (int a = 0; a < 3; ++a) {
    const auto n = static_cast<std::size_t>(a);
    if (wrap && mesh.periodic[n] && a < mesh.dimensions) continue;
    box.lo[n] = std::max(box.lo[n], points.lo[n]);
    box.hi[n] = std::min(box.hi[n], points.hi[n]);
  }
  return box;
}

/// The images of the points of `region` that lie beyond periodic faces of the mesh. They are disjoint in the region,
/// and none has the shift 0. `cells`: all cells of the level. A mesh of n cells along an axis repeats after n points,
/// and a point beyond a face is mapped by the fewest repetitions. The nodes 0 and n are at the same place. The nodes 0
/// to n represent themselves; n + 1 maps to 1, and -1 to n - 1. `owned`: there is no node n (Mesh::owned_points), so n
/// maps to 0.
[[nodiscard]] std::vector<PeriodicImage> images_of(const Box& region, const Box& cells, Centering centering,
                                                   const std::array<bool, 3>& periodic, bool owned = false);

}  // namespace sidestream
