#include "visualisation/render/cell_edges.hpp"

#include <algorithm>

namespace sidestream::rendering {
namespace {

/// The rectangle that the picture of a cell fills; infinite if a part of it is not ahead of the camera.
class CellExtent {
 public:
  void add(const Vec3& place, const Camera& camera) {
    const Seen seen = camera.see(place);
    if (!camera.parallel() && !(seen.ahead >= camera.near())) {
      left_ = top_ = -1e30;
      right_ = bottom_ = 1e30;
      return;
    }
    const Projection p = camera.project(seen);
    left_ = std::min(left_, p.x), right_ = std::max(right_, p.x);
    top_ = std::min(top_, p.y), bottom_ = std::max(bottom_, p.y);
  }
  [[nodiscard]] double smaller_side() const { return std::min(right_ - left_, bottom_ - top_); }

 private:
  double left_ = 1e30, right_ = -1e30, top_ = 1e30, bottom_ = -1e30;
};

}  // namespace

std::vector<std::array<std::int64_t, 2>> distinct_edges(const Piece& piece, const Camera& camera, double least) {
  std::vector<std::array<std::int64_t, 2>> kept;
  for (std::size_t first = 0, end = 0; first < piece.lines.size(); first = end) {
    CellExtent extent;
    // The outline of a cell ends where it began.
    for (bool closed = false; !closed && end < piece.lines.size(); ++end) {
      extent.add(piece.points[static_cast<std::size_t>(piece.lines[end][0])], camera);
      closed = piece.lines[end][1] == piece.lines[first][0];
    }
    if (extent.smaller_side() < least) continue;
    kept.insert(kept.end(), piece.lines.begin() + static_cast<std::ptrdiff_t>(first),
                piece.lines.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return kept;
}

}  // namespace sidestream::rendering
