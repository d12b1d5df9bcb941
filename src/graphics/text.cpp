#include "graphics/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "graphics/glyphs.hpp"

namespace sidestream::rendering {
namespace {

constexpr double capital = 14;    ///< units, see Glyph
constexpr double bearing = 1.55;  ///< units of space on either side of a glyph
constexpr double pen = 0.125;     ///< stroke width as a share of the capitals' height

struct Segment {
  double x0, y0, x1, y1;
};

/// Turns a glyph's path into straight segments, in units.
class Pen {
 public:
  std::vector<Segment> trace(std::string_view path) {
    while (!path.empty()) {
      const char command = path.front();
      path.remove_prefix(1);
      if (command == ' ') continue;
      double v[6]{};
      const int count = command == 'q' ? 4 : command == 'a' || command == 'o' ? 6 : 2;
      for (int i = 0; i < count; ++i) {
        path.remove_prefix(std::min(path.find_first_not_of(' '), path.size()));
        v[i] = take_real(path).value_or(0);
      }
      apply(command, v);
    }
    return std::move(segments_);
  }

 private:
  static constexpr int steps = 20;  ///< straight pieces of a curve: invisible up to capitals of 100 pixels

  void apply(char command, const double* v) {
    switch (command) {
      case 'm':
        go(v[0], v[1]);
        break;
      case 'l':
        line(v[0], v[1]);
        break;
      case 'q':
        parabola(v);
        break;
      default:
        arc(command == 'o', v);
        break;
    }
  }
  void go(double x, double y) { x_ = x, y_ = y; }
  void line(double x, double y) {
    segments_.push_back({x_, y_, x, y});
    go(x, y);
  }
  void parabola(const double* v) {
    const double x = x_, y = y_;
    for (int i = 1; i <= steps; ++i) {
      const double t = static_cast<double>(i) / steps, s = 1 - t;
      line(s * s * x + 2 * s * t * v[0] + t * t * v[2], s * s * y + 2 * s * t * v[1] + t * t * v[3]);
    }
  }
  void arc(bool lifted, const double* v) {
    const int pieces = static_cast<int>(2 * steps * std::abs(v[5]) / 360) + 4;
    for (int i = 0; i <= pieces; ++i) {
      const double angle = (v[4] + v[5] * i / pieces) / 180 * std::numbers::pi;
      const double x = v[0] + v[2] * std::cos(angle), y = v[1] + v[3] * std::sin(angle);
      if (i == 0 && lifted) {
        go(x, y);
      } else {
        line(x, y);
      }
    }
  }

  std::vector<Segment> segments_;
  double x_ = 0, y_ = 0;
};

/// Takes one character off the front of UTF-8 text; U+FFFD for bytes that are none.
char32_t take_character(std::string_view& text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned lead = byte(0);
  const std::size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
  char32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  bool good = length > 0 && length <= text.size();
  for (std::size_t i = 1; good && i < length; ++i) {
    good = byte(i) >> 6 == 2;
    code = code << 6 | (byte(i) & 0x3f);
  }
  text.remove_prefix(good ? length : 1);
  return good ? code : 0xfffd;
}

const Glyph& glyph_of(char32_t code) {
  const auto all = glyphs();
  const auto found = std::lower_bound(all.begin(), all.end(), code,
                                      [](const Glyph& glyph, char32_t wanted) { return glyph.code < wanted; });
  return found != all.end() && found->code == code ? *found : missing_glyph();
}

double advance(const Glyph& glyph) { return glyph.width * glyph.scale + 2 * bearing; }

double squared_distance(const Segment& s, double x, double y) {
  const double dx = s.x1 - s.x0, dy = s.y1 - s.y0, square = dx * dx + dy * dy;
  const double t = square > 0 ? std::clamp(((x - s.x0) * dx + (y - s.y0) * dy) / square, 0.0, 1.0) : 0;
  const double ex = s.x0 + t * dx - x, ey = s.y0 + t * dy - y;
  return ex * ex + ey * ey;
}

/// Text is mixed in sRGB values: mixed as light, dark strokes of one pixel would look too thin.
void blend(Image& image, int x, int y, Colour colour, double share) {
  std::uint8_t* pixel = image.rgba.data() + (std::size_t(y) * image.width + x) * 4;
  const std::uint8_t ink[] = {colour.red, colour.green, colour.blue};
  for (int c = 0; c < 3; ++c) {
    pixel[c] = static_cast<std::uint8_t>(std::lround(pixel[c] + share * (ink[c] - pixel[c])));
  }
}

/// Segments in pixels; a pixel's share is how far it reaches into the pen's stroke.
void stroke(Image& image, const std::vector<Segment>& segments, double radius, Colour colour) {
  double left = 1e30, right = -1e30, top = 1e30, bottom = -1e30;
  for (const Segment& s : segments) {
    left = std::min({left, s.x0, s.x1}), right = std::max({right, s.x0, s.x1});
    top = std::min({top, s.y0, s.y1}), bottom = std::max({bottom, s.y0, s.y1});
  }
  const auto within = [](double v, int most) { return static_cast<int>(std::clamp(v, 0.0, double(most))); };
  const int x1 = within(right + radius + 2, image.width), y1 = within(bottom + radius + 2, image.height);
  for (int y = within(top - radius - 1, image.height); y < y1; ++y) {
    for (int x = within(left - radius - 1, image.width); x < x1; ++x) {
      double nearest = 1e30;
      for (const Segment& s : segments) nearest = std::min(nearest, squared_distance(s, x + 0.5, y + 0.5));
      const double share = std::clamp(radius + 0.5 - std::sqrt(nearest), 0.0, 1.0);
      if (share > 0) blend(image, x, y, colour, share);
    }
  }
}

}  // namespace

double text_width(std::string_view text, double size) {
  double units = 0;
  while (!text.empty()) units += advance(glyph_of(take_character(text)));
  return units * size / capital;
}

std::string cut_text(std::string_view text, double size, double room) {
  if (text_width(text, size) <= room) return std::string(text);
  constexpr std::string_view dots = "...";
  std::string_view rest = text;
  std::size_t kept = 0;
  for (double width = text_width(dots, size); !rest.empty(); kept = text.size() - rest.size()) {
    width += advance(glyph_of(take_character(rest))) * size / capital;
    if (width > room) break;
  }
  while (kept > 0 && text[kept - 1] == ' ') --kept;
  return std::string(text.substr(0, kept)).append(dots);
}

void draw_text(Image& image, std::string_view text, double left, double baseline, double size, Colour colour) {
  const double unit = size / capital;
  const double radius = std::max(0.5, 0.5 * pen * size);
  while (!text.empty()) {
    const Glyph& glyph = glyph_of(take_character(text));
    std::vector<Segment> segments = Pen().trace(glyph.path);
    const auto x = [&](double v) { return left + (bearing + v * glyph.scale) * unit; };
    const auto y = [&](double v) { return baseline - (v * glyph.scale + glyph.raise) * unit; };
    for (Segment& s : segments) s = {x(s.x0), y(s.y0), x(s.x1), y(s.y1)};
    if (!segments.empty()) stroke(image, segments, radius, colour);
    left += advance(glyph) * unit;
  }
}

void fill_rectangle(Image& image, int left, int top, int right, int bottom, Colour colour) {
  for (int y = std::max(top, 0); y < std::min(bottom, image.height); ++y) {
    for (int x = std::max(left, 0); x < std::min(right, image.width); ++x) blend(image, x, y, colour, 1);
  }
}

}  // namespace sidestream::rendering
