// The camera: maps points of the domain to samples of the picture and their depth.
#pragma once

#include <optional>
#include <vector>

#include "visualisation/mesh/plane.hpp"

namespace sidestream::rendering {

/// The box that a picture shows, by its corners. Pictures of a run must be comparable, so the camera depends only on
/// this, never on values or on the position of surfaces.
struct Domain {
  Vec3 low{0, 0, 0}, high{1, 1, 1};
  [[nodiscard]] Vec3 centre() const noexcept { return scale(add(low, high), 0.5); }
  [[nodiscard]] double diagonal() const noexcept { return length(subtract(high, low)); }
  /// Corner 0..7; bit a of `corner` selects the high end on axis a.
  [[nodiscard]] Vec3 corner(int corner) const noexcept {
    return {corner & 1 ? high[0] : low[0], corner & 2 ? high[1] : low[1], corner & 4 ? high[2] : low[2]};
  }
};

/// Settings of the configuration; missing ones are chosen so that the whole domain is visible.
struct CameraSettings {
  std::optional<Vec3> position;  ///< position of the camera
  /// The point in the middle of the picture. Default: the domain's centre if there is a position, otherwise such that
  /// the domain's picture is centred.
  std::optional<Vec3> focus;
  std::optional<Vec3> view;  ///< direction in which the camera looks; not together with position
  std::optional<Vec3> up;    ///< upward direction in the picture; default: z (y if the domain is flat along z)
  double angle = 30;         ///< degrees between the upper and lower edge of the viewport
  double zoom = 1;           ///< enlarges the picture without moving the camera
  bool parallel = false;     ///< no perspective; heights at the focus are those of the perspective
  /// Instead of position and view: the unit vector from the focus, by default the domain's centre, to the camera. The
  /// camera is equally far away in all directions, and shows the whole sphere about the domain with the default focus.
  std::optional<Vec3> around{};
};

/// The part of a picture that the camera fills, in pixels from the top left. The domain is drawn beyond it too.
struct Viewport {
  double left = 0, top = 0, width = 0, height = 0;
};

/// A point in camera axes: to the right, up, and ahead of the camera.
struct Seen {
  double right, up, ahead;
};

/// The projection of a point: samples from the left and the top, depth from 0 (near) to 1 (far), and the weight of
/// attributes for perspective (1 for a parallel projection).
struct Projection {
  double x, y, depth, weight;
};

/// The line of sight through a position of the picture: its distance to the right and up per unit of distance ahead, or
/// with a parallel projection at every distance.
struct Across {
  double right, up;
};

/// The camera. Immutable. Sizes of the viewport may be in samples instead of pixels.
class Camera {
 public:
  /// Requires a positive viewport and 0 < angle < 180, zoom > 0. Visible objects may extend beyond the domain by
  /// `reach`.
  Camera(const CameraSettings& settings, const Domain& domain, const Viewport& viewport, double reach = 0);

  [[nodiscard]] Seen see(const Vec3& point) const noexcept {
    const Vec3 p = subtract(point, eye_);
    return {dot(p, right_), dot(p, up_), dot(p, forward_)};
  }
  /// Projects a point. Requires ahead >= near() unless the projection is parallel.
  [[nodiscard]] Projection project(const Seen& p) const noexcept {
    if (parallel_) {
      return {centre_x_ + focal_ * p.right, centre_y_ - focal_ * p.up, (p.ahead - near_) * depth_scale_, 1};
    }
    const double w = 1 / p.ahead;
    return {centre_x_ + focal_ * p.right * w, centre_y_ - focal_ * p.up * w, (1 / near_ - w) * depth_scale_, w};
  }
  /// The distance ahead at a projection's depth.
  [[nodiscard]] double ahead_at(double depth) const noexcept {
    return parallel_ ? near_ + depth / depth_scale_ : 1 / (1 / near_ - depth / depth_scale_);
  }
  [[nodiscard]] Across across(double x, double y) const noexcept {
    return {(x - centre_x_) / focal_, (centre_y_ - y) / focal_};
  }
  /// Unit vector in camera axes from a surface at a sample towards the camera.
  [[nodiscard]] Vec3 towards_eye(double x, double y) const noexcept {
    if (parallel_) return {0, 0, -1};
    return unit({(centre_x_ - x) / focal_, (y - centre_y_) / focal_, -1});
  }
  /// A direction of the domain in camera axes.
  [[nodiscard]] Vec3 turn(const Vec3& v) const noexcept { return {dot(v, right_), dot(v, up_), dot(v, forward_)}; }

  [[nodiscard]] bool parallel() const noexcept { return parallel_; }
  [[nodiscard]] double near() const noexcept { return near_; }  ///< nothing nearer is drawn, unless parallel
  [[nodiscard]] const Vec3& eye() const noexcept { return eye_; }
  [[nodiscard]] const Vec3& right() const noexcept { return right_; }
  [[nodiscard]] const Vec3& up() const noexcept { return up_; }
  [[nodiscard]] const Vec3& forward() const noexcept { return forward_; }
  /// Distance by which lines are drawn too near with a parallel projection. It makes them visible on their surface.
  [[nodiscard]] double line_lift() const noexcept { return 0.02 / depth_scale_; }
  /// Length in the domain of one sample at that distance ahead.
  [[nodiscard]] double sample_size(double ahead) const noexcept { return parallel_ ? 1 / focal_ : ahead / focal_; }

 private:
  void orient(const CameraSettings& settings, const Domain& domain);
  void place(const Domain& domain, bool centre, double aspect, double tangent);
  [[nodiscard]] double distance_around(const Domain& domain, double aspect, double tangent) const;
  [[nodiscard]] double fitting_distance(const Domain& domain, double aspect, double tangent) const;
  void set_depth(const Domain& domain, double reach);

  Vec3 focus_{}, eye_{}, right_{}, up_{}, forward_{};
  double focal_ = 1, centre_x_ = 0, centre_y_ = 0;
  double near_ = 0, depth_scale_ = 1;
  bool parallel_ = false;
};

/// True if two directions are (nearly) the same or opposite, so that they cannot be view and up together.
[[nodiscard]] bool nearly_parallel(const Vec3& a, const Vec3& b) noexcept;

// Clipping of the parts that a projection cannot show.

/// Quantities that are interpolated over a triangle.
struct Attributes {
  Vec3 normal;
  double value;
};

/// A corner of a polygon in camera axes.
struct ClippedCorner {
  Seen place;
  Attributes attributes;
};

/// Clips a convex polygon to the visible space. It is beyond the camera's near distance (perspective only) and projects
/// to within about `reach` samples of the picture's origin. A new corner is computed from the corner inside to the one
/// outside, so triangles that share an edge get the same one. After Sutherland and Hodgman, "Reentrant polygon
/// clipping" (1974).
void clip(std::vector<ClippedCorner>& polygon, const Camera& camera, double reach);

}  // namespace sidestream::rendering
