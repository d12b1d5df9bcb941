// Axes round a domain. First all texts are placed, then everything is drawn, since numbers whose factor is in the axis'
// name are of no use without that name.
#include "visualisation/graphics/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "visualisation/graphics/ink.hpp"
#include "visualisation/graphics/text.hpp"
#include "visualisation/graphics/ticks.hpp"

namespace sidestream::rendering {
namespace {

using Spot = std::array<double, 2>;  ///< in pixels from the top left

Spot moved(const Spot& from, const Spot& direction, double distance) {
  return {from[0] + direction[0] * distance, from[1] + direction[1] * distance};
}

/// An edge of the domain's silhouette.
struct AxisEdge {
  int axis = 0, corner = 0;  ///< it begins at this corner
  Spot from{}, to{};
  Spot outwards{};  ///< unit vector across it, away from the domain
  [[nodiscard]] double length() const { return std::hypot(to[0] - from[0], to[1] - from[1]); }
  [[nodiscard]] bool is_steep() const { return std::abs(to[1] - from[1]) > 2 * std::abs(to[0] - from[0]); }
};

/// The corners of a domain in the picture; nothing if one of them is not ahead of the camera.
std::optional<std::array<Spot, 8>> corners_in_picture(const Domain& domain, const Camera& camera) {
  std::array<Spot, 8> corners;
  for (int c = 0; c < 8; ++c) {
    const Seen seen = camera.see(domain.corner(c));
    if (!camera.parallel() && !(seen.ahead >= camera.near())) return std::nullopt;
    const Projection p = camera.project(seen);
    if (!std::isfinite(p.x) || !std::isfinite(p.y)) return std::nullopt;
    corners[static_cast<std::size_t>(c)] = {p.x, p.y};
  }
  return corners;
}

/// The edge between two corners if all others lie on one side of it, or on it.
std::optional<AxisEdge> silhouette_edge(const std::array<Spot, 8>& corners, int axis, int corner) {
  constexpr double slack = 0.5;
  AxisEdge edge{axis,
                corner,
                corners[static_cast<std::size_t>(corner)],
                corners[static_cast<std::size_t>(corner | 1 << axis)],
                {}};
  const double length = edge.length();
  if (!(length > 1)) return std::nullopt;
  const Spot across{(edge.to[1] - edge.from[1]) / length, (edge.from[0] - edge.to[0]) / length};
  double least = 0, most = 0;
  for (const Spot& other : corners) {
    const double beside = (other[0] - edge.from[0]) * across[0] + (other[1] - edge.from[1]) * across[1];
    least = std::min(least, beside);
    most = std::max(most, beside);
  }
  if (least < -slack && most > slack) return std::nullopt;
  // Across an edge without anything beside it, outwards is to the left or downwards.
  const bool none_beside = most - least < slack;
  const bool along = none_beside ? across[1] - across[0] > 0 : -least > most;
  edge.outwards = along ? across : Spot{-across[0], -across[1]};
  return edge;
}

std::optional<AxisEdge> edge_of_axis(const std::array<Spot, 8>& corners, int axis) {
  double across = 0, down = 0;
  std::vector<AxisEdge> edges;
  for (int corner = 0; corner < 8; ++corner) {
    if (corner & 1 << axis) continue;
    const Spot &from = corners[static_cast<std::size_t>(corner)],
               &to = corners[static_cast<std::size_t>(corner | 1 << axis)];
    across += to[0] - from[0];
    down += to[1] - from[1];
    if (const auto edge = silhouette_edge(corners, axis, corner)) edges.push_back(*edge);
  }
  // The leftmost of upright edges, the lowest of others; the first of equal ones.
  const bool steep = std::abs(down) > 2 * std::abs(across);
  const auto preference = [&](const AxisEdge& e) { return steep ? -e.from[0] - e.to[0] : e.from[1] + e.to[1]; };
  std::optional<AxisEdge> best;
  for (const AxisEdge& edge : edges) {
    if (!best || preference(edge) > preference(*best) + 0.5) best = edge;
  }
  return best;
}

/// An axis with its texts, before it is drawn.
struct PlacedAxis {
  AxisEdge edge;
  std::vector<Spot> ticks;
  std::vector<TextLine> numbers;
  double depth = 0;    ///< distance from the edge beyond which its name may lie
  std::string factor;  ///< of the numbers, with the offset to add; empty: the numbers are the positions
  std::optional<TextLine> name;
};

class AxesPlanner {
 public:
  AxesPlanner(const Image& image, const Layout& layout, const Domain& domain, const Camera& camera,
              const AxisTitles& titles, const TextBoxes& taken)
      : layout_(layout),
        domain_(domain),
        camera_(camera),
        titles_(titles),
        taken_(taken),
        width_(image.width),
        height_(image.height) {}

  [[nodiscard]] std::vector<PlacedAxis> plan() {
    const auto corners = corners_in_picture(domain_, camera_);
    if (!corners) return {};
    for (int axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      if (!(domain_.low[a] < domain_.high[a])) continue;
      const std::optional<AxisEdge> edge = edge_of_axis(*corners, axis);
      if (edge && edge->length() > 4 * layout_.text) axes_.push_back({*edge, {}, {}, 0, {}, {}});
    }
    for (PlacedAxis& axis : axes_) place_numbers(axis);
    for (PlacedAxis& axis : axes_) place_name(axis);
    return std::move(axes_);
  }

 private:
  [[nodiscard]] double tick_length() const { return 0.55 * layout_.text; }

  /// True if a text lies in the picture, not on a colour bar, and overlaps no other.
  [[nodiscard]] bool is_free(const TextLine& line) const {
    const TextBox box = box_of(line);
    const double gap = 0.7 * layout_.text, right = width_ - layout_.bars * layout_.bar_column;
    if (box.left < 2 || box.top < 2 || box.right > right - 2 || box.bottom > height_ - 2) return false;
    if (!taken_.are_clear_of(box, gap)) return false;
    return std::ranges::none_of(axes_, [&](const PlacedAxis& axis) {
      const auto overlaps = [&](const TextLine& other) { return box.overlaps(box_of(other), gap); };
      return std::ranges::any_of(axis.numbers, overlaps) || (axis.name && overlaps(*axis.name));
    });
  }

  /// The place in the picture of a position on an axis.
  [[nodiscard]] Spot spot_at(const AxisEdge& edge, double position) const {
    Vec3 place = domain_.corner(edge.corner);
    place[static_cast<std::size_t>(edge.axis)] = position;
    const Projection p = camera_.project(camera_.see(place));
    return {p.x, p.y};
  }

  /// A text whose box begins `distance` outwards from a spot.
  [[nodiscard]] static TextLine beside(const Spot& spot, const Spot& outwards, double distance, std::string text,
                                       double size, bool upwards) {
    double wide = text_width(text, size), high = size;
    if (upwards) std::swap(wide, high);
    const double far = distance + 0.5 * (std::abs(outwards[0]) * wide + std::abs(outwards[1]) * high);
    const Spot middle = moved(spot, outwards, far);
    if (upwards) return {std::move(text), middle[0] + 0.5 * wide, middle[1] + 0.5 * high, size, true};
    return {std::move(text), middle[0] - 0.5 * wide, middle[1] + 0.5 * high, size, false};
  }

  /// Places ticks and their numbers: as many as the edge's length allows, and fewer as long as they overlap something.
  void place_numbers(PlacedAxis& axis) {
    const auto a = static_cast<std::size_t>(axis.edge.axis);
    const ColourRange range = usable_range(domain_.low[a], domain_.high[a]);
    if (range.low != domain_.low[a] || range.high != domain_.high[a]) return;
    const double each = (axis.edge.is_steep() ? 5 : 7) * layout_.text;
    const int wanted = std::clamp(static_cast<int>(axis.edge.length() / each), 2, 8);
    for (int count = wanted; count >= 1; --count) {
      const Ticks ticks = make_ticks(range, count);
      PlacedAxis tried = axis;
      if (!add_numbers(ticks, tried)) continue;
      axis = std::move(tried);
      return;
    }
  }

  /// Adds the ticks that lie in the picture, with their numbers. False if these overlap something, apart from those at
  /// the ends, which are left out, or if there are fewer than two.
  bool add_numbers(const Ticks& ticks, PlacedAxis& axis) const {
    const double distance = tick_length() + 0.5 * layout_.text;
    const std::size_t last = ticks.ticks.size() - 1;
    for (std::size_t n = 0; n <= last; ++n) {
      const Spot spot = spot_at(axis.edge, ticks.ticks[n].value);
      if (!(spot[0] >= 0 && spot[0] < width_ && spot[1] >= 0 && spot[1] < height_)) continue;
      axis.ticks.push_back(spot);
      const TextLine line = beside(spot, axis.edge.outwards, distance, ticks.ticks[n].label, layout_.text, false);
      const TextBox box = box_of(line);
      const bool crowded = std::ranges::any_of(
          axis.numbers, [&](const TextLine& other) { return box.overlaps(box_of(other), 0.8 * layout_.text); });
      if (crowded || !is_free(line)) {
        if (n == 0 || n == last || !is_inside(box)) continue;
        return false;
      }
      axis.numbers.push_back(line);
      const double wide = std::abs(axis.edge.outwards[0]) * text_width(line.text, line.size);
      axis.depth = std::max(axis.depth, distance + wide + std::abs(axis.edge.outwards[1]) * line.size);
    }
    axis.factor = factor_of(ticks);
    return axis.numbers.size() >= 2;
  }

  [[nodiscard]] bool is_inside(const TextBox& box) const {
    return box.left >= 2 && box.top >= 2 && box.bottom <= height_ - 2 &&
           box.right <= width_ - layout_.bars * layout_.bar_column - 2;
  }

  /// "×10⁴", "+300", or both: what makes positions of the numbers.
  [[nodiscard]] static std::string factor_of(const Ticks& ticks) {
    std::string factor = power_text(ticks.exponent);
    if (ticks.offset == 0) return factor;
    if (!factor.empty()) factor += ' ';
    factor += offset_text(ticks.offset);
    return factor;
  }

  [[nodiscard]] std::string title_of(const PlacedAxis& axis) const {
    const auto a = static_cast<std::size_t>(axis.edge.axis);
    std::string title = titles_.names[a];
    if (!axis.factor.empty()) title += fmt::format(" ({})", axis.factor);
    if (!titles_.units[a].empty()) title += fmt::format(" [{}]", titles_.units[a]);
    return title;
  }

  /// Places the name beyond the numbers, in the middle of the edge if it is free there. Without it numbers that have a
  /// factor are removed.
  void place_name(PlacedAxis& axis) {
    const std::string title = title_of(axis);
    const double distance = std::max(axis.depth, tick_length()) + 0.75 * layout_.text;
    const bool upwards = axis.edge.is_steep() && text_width(title, layout_.text) > 2.5 * layout_.text;
    for (const double smaller : {1.0, 0.85}) {
      for (const double along : {0.5, 0.6, 0.4, 0.7, 0.3, 0.8, 0.2}) {
        const auto between = [&](std::size_t c) {
          return axis.edge.from[c] + along * (axis.edge.to[c] - axis.edge.from[c]);
        };
        const TextLine line =
            beside({between(0), between(1)}, axis.edge.outwards, distance, title, smaller * layout_.text, upwards);
        if (!is_free(line)) continue;
        axis.name = line;
        return;
      }
    }
    if (!axis.factor.empty()) axis.numbers.clear();
  }

  const Layout& layout_;
  const Domain& domain_;
  const Camera& camera_;
  const AxisTitles& titles_;
  const TextBoxes& taken_;
  int width_, height_;
  std::vector<PlacedAxis> axes_;
};

}  // namespace

void draw_axes(Image& image, const Layout& layout, const Domain& domain, const Camera& camera, const AxisTitles& titles,
               TextBoxes& boxes) {
  const std::vector<PlacedAxis> axes = AxesPlanner(image, layout, domain, camera, titles, boxes).plan();
  const double width = std::max(1.0, 0.11 * layout.text);
  for (const PlacedAxis& axis : axes) {
    const AxisEdge& edge = axis.edge;
    const Spot middle{0.5 * (edge.from[0] + edge.to[0]), 0.5 * (edge.from[1] + edge.to[1])};
    const Spot beside = moved(middle, edge.outwards, 0.5 * layout.text);
    const Colour ink = ink_at(image, beside[0], beside[1]);
    draw_stroke(image, edge.from, edge.to, width, ink);
    for (const Spot& tick : axis.ticks) {
      draw_stroke(image, tick, moved(tick, edge.outwards, 0.55 * layout.text), width, ink);
    }
  }
  const auto write = [&](const TextLine& line) {
    const Ink ink = ink_in(image, box_of(line));
    draw_line_of_text(image, line, ink.colour, &boxes, ink.halo);
  };
  for (const PlacedAxis& axis : axes) {
    for (const TextLine& number : axis.numbers) write(number);
    if (axis.name) write(*axis.name);
  }
}

}  // namespace sidestream::rendering
