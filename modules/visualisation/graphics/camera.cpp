// Projection and automatic placement of the camera. Without a position, the camera looks along the view direction from
// the distance at which all corners of the domain fit; with perspective the focus is moved iteratively until the
// domain's picture is centred. Depth spans the domain. Polygons are clipped against half-spaces one after the other
// (Sutherland and Hodgman, 1974).
#include "visualisation/graphics/camera.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sidestream::rendering {
namespace {

/// Fraction of the viewport that the domain fills when the camera places itself.
constexpr double filled = 0.94;

/// View from the front right and above: three faces of the domain are visible, none at a grazing angle.
constexpr Vec3 three_quarters{-0.55, 0.78, -0.42};

/// The axis along which the domain is so thin that it is practically flat; -1: none.
int flat_axis(const Domain& domain) {
  const Vec3 size = subtract(domain.high, domain.low);
  const double most = *std::max_element(size.begin(), size.end());
  for (int a = 2; a >= 0; --a) {
    if (size[a] < 0.02 * most) return a;
  }
  return -1;
}

Vec3 default_view(const Domain& domain) {
  switch (flat_axis(domain)) {
    case 0:
      return {-1, 0, 0};
    case 1:
      return {0, 1, 0};
    case 2:
      return {0, 0, -1};
    default:
      return three_quarters;
  }
}

}  // namespace

bool nearly_parallel(const Vec3& a, const Vec3& b) noexcept { return length(cross(unit(a), unit(b))) < 1e-4; }

Camera::Camera(const CameraSettings& settings, const Domain& domain, const Viewport& viewport, double reach)
    : parallel_(settings.parallel) {
  orient(settings, domain);
  const double tangent = std::tan(settings.angle / 360 * std::numbers::pi);
  const double aspect = viewport.width / viewport.height;
  if (settings.around) {
    eye_ = add(focus_, scale(*settings.around, distance_around(domain, aspect, tangent)));
  } else if (settings.position) {
    eye_ = *settings.position;
  } else {
    place(domain, !settings.focus, aspect, tangent);
  }
  const double distance = length(subtract(focus_, eye_));
  focal_ = settings.zoom * viewport.height / 2 / (parallel_ ? tangent * distance : tangent);
  centre_x_ = viewport.left + viewport.width / 2;
  centre_y_ = viewport.top + viewport.height / 2;
  set_depth(domain, reach);
}

void Camera::orient(const CameraSettings& settings, const Domain& domain) {
  focus_ = settings.focus.value_or(domain.centre());
  Vec3 ahead = settings.view.value_or(default_view(domain));
  if (settings.position) ahead = subtract(focus_, *settings.position);
  if (settings.around) ahead = scale(*settings.around, -1);
  // On its path a camera may come to its focus, or turn round through no direction.
  forward_ = unit(length(ahead) > 0 ? ahead : default_view(domain));
  Vec3 up = settings.up.value_or(flat_axis(domain) == 2 ? Vec3{0, 1, 0} : Vec3{0, 0, 1});
  // When looking straight up or down, y points upwards, as on a map.
  if (nearly_parallel(up, forward_)) up = nearly_parallel({0, 1, 0}, forward_) ? Vec3{0, 0, 1} : Vec3{0, 1, 0};
  right_ = unit(cross(forward_, up));
  up_ = cross(right_, forward_);
}

/// Moves the camera to where it sees the whole domain. Perspective makes the near half larger, so that looking at the
/// domain's centre would leave its picture off-centre: with `centre` the focus moves across the view until it is
/// centred.
void Camera::place(const Domain& domain, bool centre, double aspect, double tangent) {
  for (int step = 0; step < 20; ++step) {
    const double distance = fitting_distance(domain, aspect, tangent);
    eye_ = subtract(focus_, scale(forward_, distance));
    if (!centre || parallel_) return;
    double left = 0, right = 0, low = 0, high = 0;
    for (int c = 0; c < 8; ++c) {
      const Seen p = see(domain.corner(c));
      const double x = p.right / p.ahead, y = p.up / p.ahead;
      left = c == 0 ? x : std::min(left, x);
      right = c == 0 ? x : std::max(right, x);
      low = c == 0 ? y : std::min(low, y);
      high = c == 0 ? y : std::max(high, y);
    }
    focus_ = add(focus_, scale(right_, 0.5 * (left + right) * distance));
    focus_ = add(focus_, scale(up_, 0.5 * (low + high) * distance));
  }
}

/// The distance at which all corners of the domain lie within the viewport. Each corner q (relative to the focus)
/// requires |q.right| <= (distance + q.forward) * tangent * filled, and likewise upwards. For a parallel projection the
/// size at the focus counts.
double Camera::fitting_distance(const Domain& domain, double aspect, double tangent) const {
  double distance = 0;
  for (int c = 0; c < 8; ++c) {
    const Vec3 q = subtract(domain.corner(c), focus_);
    const double ahead = parallel_ ? 0 : dot(q, forward_);
    const double wide = std::abs(dot(q, right_)) / (tangent * aspect * filled);
    const double high = std::abs(dot(q, up_)) / (tangent * filled);
    distance = std::max({distance, wide - ahead, high - ahead});
  }
  return distance > 0 ? distance : 1;
}

/// The distance that lets a sphere about the focus, as large as the domain, fit into the viewport.
double Camera::distance_around(const Domain& domain, double aspect, double tangent) const {
  const double radius = 0.5 * domain.diagonal(), reach = tangent * filled * std::min(1.0, aspect);
  if (!(radius > 0)) return 1;
  return parallel_ ? radius / reach : radius * std::sqrt(1 + reach * reach) / reach;
}

/// Maps the domain to depth 0..1, so that no resolution of the depth buffer is wasted on empty space.
void Camera::set_depth(const Domain& domain, double reach) {
  double nearest = see(domain.corner(0)).ahead, farthest = nearest;
  for (int c = 1; c < 8; ++c) {
    const double ahead = see(domain.corner(c)).ahead;
    nearest = std::min(nearest, ahead);
    farthest = std::max(farthest, ahead);
  }
  const double margin = std::max(0.02 * std::max(domain.diagonal(), 1e-300), 1.01 * reach);
  nearest -= margin;
  farthest += margin;
  if (parallel_) {
    near_ = nearest;
    depth_scale_ = 1 / (farthest - nearest);
    return;
  }
  // A camera inside the domain needs some distance to the nearest visible points; the resolution of depth decreases
  // with it.
  if (farthest <= 0) farthest = margin;
  near_ = std::max(nearest, 1e-3 * farthest);
  depth_scale_ = 1 / (1 / near_ - 1 / farthest);
}

namespace {

/// Keeps points with right * x + up * y + ahead * z + constant >= 0.
struct HalfSpace {
  double right, up, ahead, constant;
  [[nodiscard]] double of(const Seen& p) const noexcept {
    return right * p.right + up * p.up + ahead * p.ahead + constant;
  }
};

ClippedCorner between(const ClippedCorner& in, const ClippedCorner& out, double t) {
  const auto mix = [t](double a, double b) { return a + t * (b - a); };
  ClippedCorner made;
  made.place = {mix(in.place.right, out.place.right), mix(in.place.up, out.place.up),
                mix(in.place.ahead, out.place.ahead)};
  for (int a = 0; a < 3; ++a) {
    made.attributes.normal[a] = mix(in.attributes.normal[a], out.attributes.normal[a]);
  }
  made.attributes.value = mix(in.attributes.value, out.attributes.value);
  return made;
}

void cut(std::vector<ClippedCorner>& polygon, const HalfSpace& keep) {
  std::vector<ClippedCorner> result;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const ClippedCorner &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    const double da = keep.of(a.place), db = keep.of(b.place);
    if (da >= 0) result.push_back(a);
    if (da >= 0 && db < 0) result.push_back(between(a, b, da / (da - db)));
    if (da < 0 && db >= 0) result.push_back(between(b, a, db / (db - da)));
  }
  polygon = std::move(result);
}

}  // namespace

void clip(std::vector<ClippedCorner>& polygon, const Camera& camera, double reach) {
  for (const auto& corner : polygon) {
    if (!std::isfinite(corner.place.right + corner.place.up + corner.place.ahead)) {
      polygon.clear();
      return;
    }
  }
  // Slightly beyond the near distance, so that rounding does not move a cut corner to the wrong side.
  if (!camera.parallel()) cut(polygon, {0, 0, 1, -camera.near() * (1 + 1e-9)});
  const double slope = camera.sample_size(1) * reach;
  for (const double sign : {1.0, -1.0}) {
    const double ahead = camera.parallel() ? 0 : slope, constant = camera.parallel() ? slope : 0;
    cut(polygon, {sign, 0, ahead, constant});
    cut(polygon, {0, sign, ahead, constant});
  }
}

}  // namespace sidestream::rendering
