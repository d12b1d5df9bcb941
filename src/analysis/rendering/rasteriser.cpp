#include "analysis/rendering/rasteriser.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sidestream::rendering {
namespace {

constexpr int fraction_bits = 8;
constexpr std::int64_t one = 1 << fraction_bits, half = one / 2;

/// Samples beyond the middle at which a corner counts as far outside. Products of two differences of such
/// corners stay below 2^58.
constexpr double guard = 1 << 19;

/// The largest depth that is not that of an empty sample.
constexpr double deepest = 4294967294.0;

/// The first sample whose centre is not left of (above) the place.
std::int64_t first_centre(std::int64_t place) { return (place + half - 1) >> fraction_bits; }
/// The last sample whose centre is not right of (below) the place.
std::int64_t last_centre(std::int64_t place) { return (place - half) >> fraction_bits; }

/// Twice the signed area to the right of an edge, as a function that is linear in samples; positive inside.
/// `bias` makes samples exactly on an edge belong to one of the two triangles that share it.
struct Edge {
  std::int64_t step_x, step_y, start, bias;
  template <class Corner>
  Edge(const Corner& a, const Corner& b, std::int64_t x, std::int64_t y) {
    const std::int64_t dx = std::int64_t{b.x} - a.x, dy = std::int64_t{b.y} - a.y;
    step_x = -dy * one;
    step_y = dx * one;
    start = dx * (y * one + half - a.y) - dy * (x * one + half - a.x);
    bias = dy < 0 || (dy == 0 && dx > 0) ? 0 : -1;
  }
  [[nodiscard]] std::int64_t at_row(std::int64_t rows) const noexcept { return start + rows * step_y; }
};

}  // namespace

Rasteriser::Corner Rasteriser::corner_at(const Seen& seen) const noexcept {
  Corner corner{0, 0, false, 0, 0};
  if (!camera_.parallel() && !(seen.ahead >= camera_.near())) return corner;
  const Projection p = camera_.project(seen);
  if (!(std::abs(p.x) < guard && std::abs(p.y) < guard)) return corner;
  corner.x = static_cast<std::int32_t>(std::lrint(p.x * one));
  corner.y = static_cast<std::int32_t>(std::lrint(p.y * one));
  corner.depth = p.depth * deepest;
  corner.weight = p.weight;
  corner.regular = true;
  return corner;
}

void Rasteriser::draw(const Triangles& triangles, const Material& material) {
  material_ = material;
  lit_ = !triangles.normals.empty();
  mapped_ = material.map != nullptr && !triangles.values.empty();
  corners_.resize(triangles.points.size());
  for (std::size_t p = 0; p < corners_.size(); ++p) corners_[p] = corner_at(camera_.see(triangles.points[p]));
  for (const Three& three : triangles.corners) {
    const Corner &a = corners_[three[0]], &b = corners_[three[1]], &c = corners_[three[2]];
    if (!(a.regular && b.regular && c.regular)) {
      draw_clipped(triangles, three);
    } else if (!box_of(a, b, c).empty()) {
      const Attributes at[] = {attributes_at(triangles, three[0]), attributes_at(triangles, three[1]),
                               attributes_at(triangles, three[2])};
      fill({&a, &b, &c}, {&at[0], &at[1], &at[2]});
    }
  }
}

/// The samples of this framebuffer whose centres lie in the bounding box: none for most triangles of a fine
/// mesh.
Rasteriser::SampleBox Rasteriser::box_of(const Corner& a, const Corner& b, const Corner& c) const noexcept {
  const auto [left, right] = std::minmax({a.x, b.x, c.x});
  const auto [top, bottom] = std::minmax({a.y, b.y, c.y});
  return {std::max<std::int64_t>(first_centre(left), 0), std::min(last_centre(right), target_.width() - 1),
          std::max(first_centre(top), target_.first_row()), std::min(last_centre(bottom), target_.end_row() - 1)};
}

Attributes Rasteriser::attributes_at(const Triangles& triangles, std::int64_t point) const noexcept {
  return {lit_ ? triangles.normals[point] : Vec3{0, 0, 0}, mapped_ ? triangles.values[point] : 0};
}

Colour Rasteriser::colour_at(const Attributes& attributes, std::int64_t x, std::int64_t y) const noexcept {
  const Colour base = mapped_ ? material_.map->at(material_.range.fraction(attributes.value)) : material_.colour;
  if (!lit_) return base;
  return lights_.shade(base, camera_.turn(attributes.normal), camera_.towards_eye(x + 0.5, y + 0.5));
}

std::int64_t Rasteriser::arrange(std::array<const Corner*, 3>& p, std::array<const Attributes*, 3>& at) {
  // Begin with the topmost (then leftmost) corner and turn the same way round, so that rounding does not
  // depend on how the triangle was listed. Corners that coincide have no area.
  const auto before = [&p](int i, int j) { return std::pair(p[i]->y, p[i]->x) < std::pair(p[j]->y, p[j]->x); };
  const int first = before(1, 0) ? (before(2, 1) ? 2 : 1) : (before(2, 0) ? 2 : 0);
  std::rotate(p.begin(), p.begin() + first, p.end());
  std::rotate(at.begin(), at.begin() + first, at.end());
  const std::int64_t area = (std::int64_t{p[1]->x} - p[0]->x) * (std::int64_t{p[2]->y} - p[0]->y) -
                            (std::int64_t{p[1]->y} - p[0]->y) * (std::int64_t{p[2]->x} - p[0]->x);
  if (area >= 0) return area;
  std::swap(p[1], p[2]);
  std::swap(at[1], at[2]);
  return -area;
}

void Rasteriser::fill(std::array<const Corner*, 3> p, std::array<const Attributes*, 3> at) {
  const SampleBox box = box_of(*p[0], *p[1], *p[2]);
  const std::int64_t area = arrange(p, at);
  if (area == 0) return;
  const Edge e0(*p[1], *p[2], box.left, box.top), e1(*p[2], *p[0], box.left, box.top),
      e2(*p[0], *p[1], box.left, box.top);
  const double inverse = 1 / static_cast<double>(area);
  const auto between = [](double a, double b, double c, double s, double t) { return a + s * (b - a) + t * (c - a); };
  for (std::int64_t y = box.top; y <= box.bottom; ++y) {
    Sample* row = target_.row(y);
    std::int64_t f0 = e0.at_row(y - box.top), f1 = e1.at_row(y - box.top), f2 = e2.at_row(y - box.top);
    for (std::int64_t x = box.left; x <= box.right; ++x, f0 += e0.step_x, f1 += e1.step_x, f2 += e2.step_x) {
      if (((f0 + e0.bias) | (f1 + e1.bias) | (f2 + e2.bias)) < 0) continue;
      const double s = static_cast<double>(f1) * inverse, t = static_cast<double>(f2) * inverse;
      const double z = std::clamp(between(p[0]->depth, p[1]->depth, p[2]->depth, s, t), 0.0, deepest);
      const auto depth = static_cast<std::uint32_t>(z);
      if (depth > depth_of(row[x])) continue;
      // Attributes are linear in space, not in the picture: weigh by the inverse distance.
      const double w = between(p[0]->weight, p[1]->weight, p[2]->weight, s, t);
      const double u = s * p[1]->weight / w, v = t * p[2]->weight / w;
      Attributes here;
      for (int a = 0; a < 3; ++a) {
        here.normal[a] = between(at[0]->normal[a], at[1]->normal[a], at[2]->normal[a], u, v);
      }
      here.value = between(at[0]->value, at[1]->value, at[2]->value, u, v);
      row[x] = std::min(row[x], make_sample(depth, material_.layer, colour_at(here, x, y)));
    }
  }
}

void Rasteriser::draw_clipped(const Triangles& triangles, const Three& three) {
  std::vector<ClippedCorner> polygon;
  for (const std::int64_t point : three) {
    polygon.push_back({camera_.see(triangles.points[point]), attributes_at(triangles, point)});
  }
  clip(polygon, camera_, guard / 2);
  std::vector<Corner> corners;
  for (const ClippedCorner& cut : polygon) {
    corners.push_back(corner_at(cut.place));
    if (!corners.back().regular) return;  // not finite
  }
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    fill({&corners[0], &corners[i - 1], &corners[i]},
         {&polygon[0].attributes, &polygon[i - 1].attributes, &polygon[i].attributes});
  }
}

}  // namespace sidestream::rendering
