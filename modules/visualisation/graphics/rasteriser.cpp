// The rasteriser; see rasteriser.hpp. The corners of a triangle are projected and snapped to 1/256 sample; triangles
// that leave the safe range are clipped first. A triangle is put into canonical order, beginning with its topmost
// corner. For every sample of its bounding box three integer edge functions decide coverage (Pineda, 1988); they are
// updated by additions. Depth is linear in the picture, attributes are interpolated with perspective weights. The
// sample is the minimum of the old and the new 64-bit value. Squares of 8 x 8 samples remember their farthest depth, so
// that hidden triangles are skipped.
#include "visualisation/graphics/rasteriser.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "visualisation/contour/crossed_edge.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream::rendering {

namespace {

/// Encodes a direction instead of a colour, by the octahedral map (Meyer et al., "On floating-point normal vectors",
/// 2010), 12 bits per axis. The error is below 1/1000, invisible in shades of 8 bits. Directions that are zero or not
/// finite have a code of their own.
inline constexpr double packed_steps = 2047;  ///< on either side of 0
inline constexpr std::uint32_t no_direction = 0xffffff;

[[nodiscard]] inline std::uint32_t pack_normal(const Vec3& n) noexcept {
  const double sum = std::abs(n[0]) + std::abs(n[1]) + std::abs(n[2]);
  if (!(sum > 0) || !(sum < 1e300)) return no_direction;
  const double scale = packed_steps / sum;
  double u = n[0] * scale, v = n[1] * scale;
  if (n[2] < 0) {
    const double folded = std::copysign(packed_steps - std::abs(v), u);
    v = std::copysign(packed_steps - std::abs(u), v);
    u = folded;
  }
  const auto x = static_cast<std::uint32_t>(u + (packed_steps + 0.5)),
             y = static_cast<std::uint32_t>(v + (packed_steps + 0.5));
  return x << 12 | y;
}

/// Decodes to a vector of any length; {0, 0, 0} for no direction.
[[nodiscard]] inline Vec3 unpack_normal(std::uint32_t packed) noexcept {
  if (packed == no_direction) return {0, 0, 0};
  double u = static_cast<double>(packed >> 12) - packed_steps, v = static_cast<double>(packed & 4095) - packed_steps;
  const double w = packed_steps - std::abs(u) - std::abs(v);
  if (w < 0) {
    const double unfolded = std::copysign(packed_steps - std::abs(v), u);
    v = std::copysign(packed_steps - std::abs(u), v);
    u = unfolded;
  }
  return {u, v, w};
}

[[nodiscard]] constexpr Colour colour_of_bits(std::uint32_t bits) noexcept {
  return {static_cast<std::uint8_t>(bits >> 16), static_cast<std::uint8_t>(bits >> 8), static_cast<std::uint8_t>(bits)};
}
[[nodiscard]] constexpr std::uint32_t bits_of_colour(Colour colour) noexcept {
  return static_cast<std::uint32_t>(colour.red) << 16 | static_cast<std::uint32_t>(colour.green) << 8 | colour.blue;
}

constexpr int fraction_bits = 8;
constexpr std::int64_t one = 1 << fraction_bits, half = one / 2;

/// From this distance to the origin, in samples, a corner counts as far outside. Products of two differences of nearer
/// corners stay below 2^58.
constexpr double guard = 1 << 19;

/// The first sample whose centre is not left of (above) the position.
std::int64_t first_centre(std::int64_t place) { return (place + half - 1) >> fraction_bits; }
/// The last sample whose centre is not right of (below) the position.
std::int64_t last_centre(std::int64_t place) { return (place - half) >> fraction_bits; }

/// Twice the signed area to the right of an edge, as a function that is linear in samples; positive inside. `bias`
/// assigns samples exactly on an edge to one of the two triangles that share it.
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
  corner.depth = p.depth * deepest_depth;
  corner.weight = p.weight;
  corner.regular = true;
  return corner;
}

void Rasteriser::begin(const Material& material, bool lit, bool mapped) {
  material_ = material;
  lit_ = lit;
  mapped_ = mapped;
  through_ = material.translucent && fragments_ != nullptr;
  later_ = material.later && lit && !mapped && !through_;
}

void Rasteriser::draw(const Triangles& triangles, const Material& material) {
  begin(material, !triangles.normals.empty(), material.map != nullptr && !triangles.values.empty());
  vertices_.resize(triangles.points.size());
  for (std::size_t p = 0; p < vertices_.size(); ++p) {
    vertices_[p] =
        vertex(triangles.points[p], lit_ ? triangles.normals[p] : Vec3{0, 0, 0}, mapped_ ? triangles.values[p] : 0);
  }
  for (const auto& [a, b, c] : triangles.corners) {
    draw(vertices_[static_cast<std::size_t>(a)], vertices_[static_cast<std::size_t>(b)],
         vertices_[static_cast<std::size_t>(c)]);
  }
}

/// Draws a triangle whose values are moved by periods to the least one, so that they are interpolated the shorter way
/// round. This does not depend on the order of corners.
void Rasteriser::draw_near(const Vertex& a, const Vertex& b, const Vertex& c) {
  std::array<Vertex, 3> moved{a, b, c};
  const double least = std::min({a.attributes.value, b.attributes.value, c.attributes.value});
  for (Vertex& one : moved) one.attributes.value = nearest_turn(one.attributes.value, least, material_.range.period);
  if (!(a.corner.regular && b.corner.regular && c.corner.regular)) {
    return draw_clipped({&moved[0], &moved[1], &moved[2]});
  }
  if (const SampleBox box = box_of(a.corner, b.corner, c.corner); !box.empty()) {
    fill({&a.corner, &b.corner, &c.corner}, {&moved[0].attributes, &moved[1].attributes, &moved[2].attributes}, box);
  }
}

void Rasteriser::draw(const Vertex& a, const Vertex& b, const Vertex& c) {
  const auto spread = [&](const Vertex& one, const Vertex& other) {
    return std::fabs(one.attributes.value - other.attributes.value) > 0.5 * material_.range.period;
  };
  if (mapped_ && material_.range.period > 0 && (spread(a, b) || spread(b, c) || spread(c, a))) {
    return draw_near(a, b, c);
  }
  if (!(a.corner.regular && b.corner.regular && c.corner.regular)) {
    draw_clipped({&a, &b, &c});
  } else if (const SampleBox box = box_of(a.corner, b.corner, c.corner); !box.empty()) {
    fill({&a.corner, &b.corner, &c.corner}, {&a.attributes, &b.attributes, &c.attributes}, box);
  }
}

/// The samples of this framebuffer whose centres lie in the bounding box: none for most triangles of a fine mesh.
Rasteriser::SampleBox Rasteriser::box_of(const Corner& a, const Corner& b, const Corner& c) const noexcept {
  const auto [left, right] = std::minmax({a.x, b.x, c.x});
  const auto [top, bottom] = std::minmax({a.y, b.y, c.y});
  return {std::max<std::int64_t>(first_centre(left), 0), std::min(last_centre(right), target_.width() - 1),
          std::max(first_centre(top), target_.first_row()), std::min(last_centre(bottom), target_.end_row() - 1)};
}

/// The bits of the colour, or of the normal that replaces it until the colour is computed.
std::uint32_t Rasteriser::colour_at(const Attributes& attributes, std::int64_t x, std::int64_t y) const noexcept {
  if (later_) return pack_normal(attributes.normal);
  const Colour base = mapped_ ? material_.map->at(material_.range.fraction(attributes.value)) : material_.colour;
  if (!lit_) return bits_of_colour(base);
  return bits_of_colour(lights_.shade(base, attributes.normal,
                                      camera_.towards_eye(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5)));
}

std::int64_t Rasteriser::arrange(std::array<const Corner*, 3>& p, std::array<const Attributes*, 3>& at) {
  // Begins with the topmost (then leftmost) corner and a fixed orientation. Rounding then does not depend on the order
  // in which the triangle was listed. Coinciding corners have no area.
  const auto before = [&p](std::size_t i, std::size_t j) {
    return p[i]->y != p[j]->y ? p[i]->y < p[j]->y : p[i]->x < p[j]->x;
  };
  const std::size_t first = before(1, 0) ? (before(2, 1) ? 2 : 1) : (before(2, 0) ? 2 : 0);
  if (first == 1) {
    p = {p[1], p[2], p[0]};
    at = {at[1], at[2], at[0]};
  } else if (first == 2) {
    p = {p[2], p[0], p[1]};
    at = {at[2], at[0], at[1]};
  }
  const std::int64_t area = (std::int64_t{p[1]->x} - p[0]->x) * (std::int64_t{p[2]->y} - p[0]->y) -
                            (std::int64_t{p[1]->y} - p[0]->y) * (std::int64_t{p[2]->x} - p[0]->x);
  if (area >= 0) return area;
  std::swap(p[1], p[2]);
  std::swap(at[1], at[2]);
  return -area;
}

void Rasteriser::fill(std::array<const Corner*, 3> p, std::array<const Attributes*, 3> at, const SampleBox& box) {
  if (box.empty()) return;
  const double nearest = std::clamp(std::min({p[0]->depth, p[1]->depth, p[2]->depth}), 0.0, deepest_depth);
  const double farthest = std::clamp(std::max({p[0]->depth, p[1]->depth, p[2]->depth}), 0.0, deepest_depth);
  if (hidden_.hide(box.left, box.right, box.top, box.bottom, static_cast<std::uint32_t>(nearest))) return;
  const std::int64_t area = arrange(p, at);
  if (area == 0) return;
  const Edge e0(*p[1], *p[2], box.left, box.top), e1(*p[2], *p[0], box.left, box.top),
      e2(*p[0], *p[1], box.left, box.top);
  const double inverse = 1 / static_cast<double>(area);
  const auto between = [](double a, double b, double c, double s, double t) { return a + s * (b - a) + t * (c - a); };
  // Depth is linear in the picture. It starts from the canonical corner, so that no sample depends on the beginning of
  // the box.
  const double depth_1 = (p[1]->depth - p[0]->depth) * inverse, depth_2 = (p[2]->depth - p[0]->depth) * inverse;
  const double right = static_cast<double>(e1.step_x) * depth_1 + static_cast<double>(e2.step_x) * depth_2;
  const double down = static_cast<double>(e1.step_y) * depth_1 + static_cast<double>(e2.step_y) * depth_2;
  const double x0 = p[0]->x * (1.0 / one) - 0.5, y0 = p[0]->y * (1.0 / one) - 0.5;
  for (std::int64_t y = box.top; y <= box.bottom; ++y) {
    Sample* row = target_.row(y);
    std::int64_t f0 = e0.at_row(y - box.top), f1 = e1.at_row(y - box.top), f2 = e2.at_row(y - box.top);
    const double depth_of_row = p[0]->depth + down * (static_cast<double>(y) - y0);
    for (std::int64_t x = box.left; x <= box.right; ++x, f0 += e0.step_x, f1 += e1.step_x, f2 += e2.step_x) {
      if (((f0 + e0.bias) | (f1 + e1.bias) | (f2 + e2.bias)) < 0) continue;
      const double z = std::clamp(depth_of_row + right * (static_cast<double>(x) - x0), nearest, farthest);
      const auto depth = static_cast<std::uint32_t>(z);
      if (depth > depth_of(row[x])) continue;
      // Attributes are linear in space, not in the picture: weights are inverse distances.
      const double s = static_cast<double>(f1) * inverse, t = static_cast<double>(f2) * inverse;
      const double w = 1 / between(p[0]->weight, p[1]->weight, p[2]->weight, s, t);
      const double u = s * p[1]->weight * w, v = t * p[2]->weight * w;
      Attributes here;
      for (std::size_t a = 0; a < 3; ++a) {
        here.normal[a] = between(at[0]->normal[a], at[1]->normal[a], at[2]->normal[a], u, v);
      }
      here.value = mapped_ ? between(at[0]->value, at[1]->value, at[2]->value, u, v) : 0;
      const Sample sample = make_sample(depth, material_.layer, colour_of_bits(colour_at(here, x, y)));
      if (through_) {
        fragments_->row(y).push_back({sample, static_cast<std::uint32_t>(x), 0});
      } else {
        row[x] = std::min(row[x], sample);
      }
    }
  }
}

void HiddenSquares::measure(std::int64_t x, std::int64_t y, Square& square) const {
  const std::int64_t top = target_.first_row() + (y << bits), left = x << bits;
  Sample most = 0;
  for (std::int64_t row = top; row < std::min(top + (1 << bits), target_.end_row()); ++row) {
    const Sample* samples = target_.row(row);
    for (std::int64_t at = left; at < std::min(left + (1 << bits), target_.width()); ++at) {
      most = std::max(most, samples[at]);
    }
  }
  square = {depth_of(most), 0};
}

void Rasteriser::draw_clipped(const std::array<const Vertex*, 3>& three) {
  std::vector<ClippedCorner> polygon;
  for (const Vertex* vertex : three) polygon.push_back({camera_.see(vertex->place), vertex->attributes});
  clip(polygon, camera_, guard / 2);
  std::vector<Corner> corners;
  for (const ClippedCorner& cut : polygon) {
    corners.push_back(corner_at(cut.place));
    if (!corners.back().regular) return;  // not finite
  }
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    fill({&corners[0], &corners[i - 1], &corners[i]},
         {&polygon[0].attributes, &polygon[i - 1].attributes, &polygon[i].attributes},
         box_of(corners[0], corners[i - 1], corners[i]));
  }
}

void Shades::apply(const Camera& camera, Framebuffer& framebuffer) const {
  const Lights lights;
  for (std::int64_t y = framebuffer.first_row(); y < framebuffer.end_row(); ++y) {
    Sample* row = framebuffer.row(y);
    for (std::int64_t x = 0; x < framebuffer.width(); ++x) {
      if (row[x] == empty_sample) continue;
      const auto layer = static_cast<std::uint8_t>(row[x] >> 24);
      const std::optional<Colour>& base = colours_[layer];
      if (!base) continue;
      const Vec3 normal = unpack_normal(static_cast<std::uint32_t>(row[x]) & 0xffffff);
      const Vec3 eye = camera.towards_eye(static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5);
      row[x] = make_sample(depth_of(row[x]), layer, lights.shade(*base, normal, eye));
    }
  }
}

Piece facets(const Piece& piece) {
  Piece faceted;
  faceted.layer = piece.layer;
  faceted.data.resize(piece.data.size());
  for (const auto& triangle : piece.triangles) {
    const auto corner = [&](std::size_t v) { return piece.points[static_cast<std::size_t>(triangle[v])]; };
    const Vec3 normal = cross(subtract(corner(1), corner(0)), subtract(corner(2), corner(0)));
    const double size = length(normal);
    if (!(size > 0) || !std::isfinite(size)) continue;
    const auto first = static_cast<std::int64_t>(faceted.points.size());
    for (std::size_t v = 0; v < 3; ++v) {
      faceted.points.push_back(corner(v));
      faceted.normals.push_back(scale(normal, 1 / size));
      for (std::size_t a = 0; a < piece.data.size(); ++a) {
        faceted.data[a].push_back(piece.data[a][static_cast<std::size_t>(triangle[v])]);
      }
    }
    faceted.triangles.push_back({first, first + 1, first + 2});
  }
  return faceted;
}

}  // namespace sidestream::rendering
