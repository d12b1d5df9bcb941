// Outlines, lines and spheres for the rasteriser.
//
// Edges become ribbons of triangles that face the camera, one width of line wide, cut in front of the camera, and
// slightly nearer than they are, so that a face that ends there does not hide them. Outlines are divided into parts,
// since long triangles have large bounding boxes.
// Spheres are ray cast (see below).
#include "visualisation/graphics/primitives.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "visualisation/graphics/shading.hpp"

namespace sidestream::rendering {

namespace {

/// Edges are divided: long thin triangles have large bounding boxes, in which the rasteriser visits every sample.
constexpr int parts_of_an_edge = 48;

/// Lines are drawn slightly nearer than they are, so that a slice that ends at a face does not hide its edges.
constexpr double lift = 2e-3;

struct Ribbon {
  std::vector<Vec3> points;
  std::vector<std::array<std::int64_t, 3>> corners;
};

/// Trims an edge to the part that is ahead of the camera; returns false if none is. Where the edge passes the camera
/// its width would be undefined.
bool trim(Vec3& a, Vec3& b, const Camera& camera) {
  if (camera.parallel()) return true;
  const double near = camera.near(), da = camera.see(a).ahead - near, db = camera.see(b).ahead - near;
  if (da <= 0 && db <= 0) return false;
  if (da < 0) a = add(a, scale(subtract(b, a), da / (da - db)));
  if (db < 0) b = add(b, scale(subtract(a, b), db / (db - da)));
  return true;
}

/// Adds an edge in `parts` pieces; with a parallel projection it is `nearer` by that distance.
void add_edge(Vec3 a, Vec3 b, int parts, double nearer, const Camera& camera, double width, Ribbon& ribbon) {
  if (!trim(a, b, camera)) return;
  for (int part = 0; part <= parts; ++part) {
    Vec3 p = add(a, scale(subtract(b, a), static_cast<double>(part) / parts));
    const Vec3 sight = camera.parallel() ? camera.forward() : subtract(p, camera.eye());
    const Vec3 aside = unit(cross(subtract(b, a), sight));
    p = subtract(p, scale(sight, camera.parallel() ? nearer : lift));
    const Vec3 half = scale(aside, 0.5 * width * camera.sample_size(camera.see(p).ahead));
    const auto first = static_cast<std::int64_t>(ribbon.points.size());
    ribbon.points.push_back(add(p, half));
    ribbon.points.push_back(subtract(p, half));
    if (part == parts) break;
    ribbon.corners.push_back({first, first + 1, first + 2});
    ribbon.corners.push_back({first + 2, first + 1, first + 3});
  }
}

}  // namespace

void draw_outline(const Domain& domain, const Camera& camera, double width, Colour colour, Rasteriser& rasteriser) {
  Ribbon ribbon;
  for (int corner = 0; corner < 8; ++corner) {
    for (int axis = 0; axis < 3; ++axis) {
      const int bit = 1 << axis;
      if (corner & bit || domain.low[axis] == domain.high[axis]) continue;
      const Vec3 a = domain.corner(corner), b = domain.corner(corner | bit);
      add_edge(a, b, parts_of_an_edge, lift * length(subtract(b, a)), camera, width, ribbon);
    }
  }
  Material material;
  material.colour = colour;
  rasteriser.draw({ribbon.points, ribbon.corners, {}, {}}, material);
}

void draw_lines(const Lines& lines, const Camera& camera, double width, const Material& material,
                Rasteriser& rasteriser) {
  for (const auto& [from, to] : lines.lines) {
    const Vec3 &a = lines.points[static_cast<std::size_t>(from)], &b = lines.points[static_cast<std::size_t>(to)];
    if (a == b) continue;
    Ribbon ribbon;
    add_edge(a, b, 1, camera.line_lift(), camera, width, ribbon);
    std::vector<double> values;
    if (!lines.values.empty() && ribbon.points.size() == 4) {
      const double first = lines.values[static_cast<std::size_t>(from)];
      const double last = lines.values[static_cast<std::size_t>(to)];
      values = {first, first, last, last};
    }
    rasteriser.draw({ribbon.points, ribbon.corners, {}, values}, material);
  }
}

// Spheres by ray casting. The bounding box of a sphere's picture is computed exactly from the tangents through the eye.
// For each sample in it, the line of sight is intersected with the sphere, which gives depth and normal.

namespace {

/// Columns left..right and rows top..bottom, both ends included.
struct SampleBox {
  std::int64_t left, right, top, bottom;
};

/// Clamps `low` to `high`, widened by one sample on both sides for rounding, to first..last. All of these if an end is
/// NaN.
void clamp_samples(double low, double high, std::int64_t first, std::int64_t last, std::int64_t& from,
                   std::int64_t& to) {
  const auto a = static_cast<double>(first), b = static_cast<double>(last);
  from = low - 1 > a ? static_cast<std::int64_t>(std::floor(std::min(low - 1, b + 1))) : first;
  to = high + 1 < b ? static_cast<std::int64_t>(std::ceil(std::max(high + 1, a - 1))) : last;
}

/// The intersection of a line of sight: its distance ahead, and the outward normal in camera axes.
struct Hit {
  double ahead;
  Vec3 normal;
};

/// One ball in front of the camera.
class Ball {
 public:
  Ball(const Camera& camera, const Seen& middle, double radius, bool disc)
      : camera_(camera), middle_(middle), radius_(radius), disc_(disc) {}

  /// Intersects the line of sight through a position of the picture. `held` is true if the ball's centre lies in this
  /// sample, which it covers in any case.
  [[nodiscard]] std::optional<Hit> meet(double x, double y, bool held) const {
    const Across line = camera_.across(x, y);
    std::optional<Hit> hit = disc_                ? meet_disc(line)
                             : camera_.parallel() ? meet_parallel(line)
                                                  : meet_perspective(line);
    if (hit || !held) return hit;
    const double front = disc_ ? middle_.ahead : middle_.ahead - radius_;
    return visible(front) ? std::optional(Hit{front, {0, 0, -1}}) : std::nullopt;
  }

  /// All samples that it may cover.
  [[nodiscard]] SampleBox bounds(const Framebuffer& target) const {
    SampleBox box{};
    const bool round_the_eye = !camera_.parallel() && !disc_ && !(middle_.ahead > radius_);
    const Projection low = camera_.project(edge(-1)), high = camera_.project(edge(1));
    const double all = round_the_eye ? std::nan("") : 0;
    clamp_samples(low.x + all, high.x + all, 0, target.width() - 1, box.left, box.right);
    clamp_samples(high.y + all, low.y + all, target.first_row(), target.end_row() - 1, box.top, box.bottom);
    return box;
  }

 private:
  [[nodiscard]] bool visible(double ahead) const { return camera_.parallel() || ahead >= camera_.near(); }

  [[nodiscard]] std::optional<Hit> meet_disc(const Across& line) const {
    const double size = camera_.parallel() ? 1 : middle_.ahead;
    const double right = line.right * size - middle_.right, up = line.up * size - middle_.up;
    if (!(right * right + up * up < radius_ * radius_) || !visible(middle_.ahead)) return std::nullopt;
    return Hit{middle_.ahead, {0, 0, -1}};
  }

  [[nodiscard]] std::optional<Hit> meet_parallel(const Across& line) const {
    const double right = line.right - middle_.right, up = line.up - middle_.up;
    const double squared = radius_ * radius_ - right * right - up * up;
    if (!(squared > 0)) return std::nullopt;
    const double deep = std::sqrt(squared);
    return Hit{middle_.ahead - deep, {right, up, -deep}};
  }

  /// The line is t * (right, up, 1). Its distance from the centre comes from a cross product, which is accurate for
  /// small balls far away; the difference of two large squares would not be.
  [[nodiscard]] std::optional<Hit> meet_perspective(const Across& line) const {
    const Vec3 q{line.right, line.up, 1}, c{middle_.right, middle_.up, middle_.ahead};
    const double qq = dot(q, q);
    const Vec3 passing = cross(q, c);
    const double squared = qq * radius_ * radius_ - dot(passing, passing);
    if (!(squared > 0)) return std::nullopt;
    const double deep = std::sqrt(squared) / qq, middle = dot(q, c) / qq;
    for (const double ahead : {middle - deep, middle + deep}) {
      if (ahead >= camera_.near()) return Hit{ahead, subtract(scale(q, ahead), c)};
    }
    return std::nullopt;
  }

  /// A point whose picture is as far to the left and down (-1) or to the right and up (1) as that of the ball. With
  /// perspective it comes from tangents through the eye: (c - m a)^2 = r^2 (1 + m^2) for the slope m. Requires the ball
  /// to be ahead of the eye.
  [[nodiscard]] Seen edge(double side) const {
    if (camera_.parallel()) return {middle_.right + side * radius_, middle_.up + side * radius_, middle_.ahead};
    const double a = middle_.ahead, r = radius_;
    const auto slope = [&](double c) {
      if (disc_) return (c + side * r) / a;
      return (c * a + side * r * std::sqrt(std::max(0.0, c * c + (a - r) * (a + r)))) / ((a - r) * (a + r));
    };
    return {slope(middle_.right), slope(middle_.up), 1};
  }

  const Camera& camera_;
  Seen middle_;
  double radius_;
  bool disc_;
};

/// Draws one ball after the other in the same material.
class Painter {
 public:
  Painter(const Camera& camera, Framebuffer& target, bool disc) : camera_(camera), target_(target), disc_(disc) {}

  void paint(const Seen& middle, double radius, Colour base, std::uint8_t layer) {
    const Ball ball(camera_, middle, radius, disc_);
    const bool ahead = camera_.parallel() || middle.ahead >= camera_.near();
    const Projection place = ahead ? camera_.project(middle) : Projection{-1, -1, 0, 0};
    const double column = std::floor(place.x), row = std::floor(place.y);
    const SampleBox box = ball.bounds(target_);
    for (std::int64_t y = box.top; y <= box.bottom; ++y) {
      Sample* samples = target_.row(y);
      const auto top = static_cast<double>(y);
      for (std::int64_t x = box.left; x <= box.right; ++x) {
        const auto left = static_cast<double>(x);
        const auto hit = ball.meet(left + 0.5, top + 0.5, left == column && top == row);
        if (!hit) continue;
        const std::uint32_t depth = depth_at(hit->ahead);
        if (depth > depth_of(samples[x])) continue;
        const Colour colour =
            disc_ ? base : lights_.shade(base, hit->normal, camera_.towards_eye(left + 0.5, top + 0.5));
        samples[x] = std::min(samples[x], make_sample(depth, layer, colour));
      }
    }
  }

 private:
  [[nodiscard]] std::uint32_t depth_at(double ahead) const {
    return static_cast<std::uint32_t>(
        std::clamp(camera_.project({0, 0, ahead}).depth * deepest_depth, 0.0, deepest_depth));
  }

  const Camera& camera_;
  Framebuffer& target_;
  bool disc_;
  Lights lights_;
};

}  // namespace

void draw_balls(const Balls& balls, const Material& material, const Camera& camera, Framebuffer& framebuffer) {
  Painter painter(camera, framebuffer, balls.disc);
  const bool mapped = material.map != nullptr && !balls.values.empty();
  for (std::size_t n = 0; n < balls.places.size(); ++n) {
    const Seen middle = camera.see(balls.places[n]);
    if (!std::isfinite(middle.right) || !std::isfinite(middle.up) || !std::isfinite(middle.ahead)) continue;
    const double radius = balls.radius > 0 ? balls.radius : balls.samples * camera.sample_size(middle.ahead);
    const double front = balls.disc ? middle.ahead : middle.ahead + radius;
    if (!camera.parallel() && !(front >= camera.near() && radius > 0)) continue;  // behind the camera
    const Colour base = mapped ? material.map->at(material.range.fraction(balls.values[n])) : material.colour;
    painter.paint(middle, radius, base, material.layer);
  }
}

}  // namespace sidestream::rendering
