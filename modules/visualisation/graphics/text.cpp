// Text with a stroke font. Paths of glyphs are converted to straight segments and scaled; the coverage of a pixel is
// estimated from its distance to the nearest segment, which antialiases the strokes.
#include "visualisation/graphics/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "sidestream/kit/base/numbers.hpp"

namespace sidestream::rendering {
namespace {

constexpr double capital = 14;    ///< units, see Glyph
constexpr double bearing = 1.55;  ///< units of space on either side of a glyph
constexpr double pen = 0.125;     ///< stroke width relative to the height of capitals

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

/// Takes one character off the front of UTF-8 text; U+FFFD for malformed bytes.
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

/// Blends text in sRGB values: with linear light, dark strokes of one pixel would look too thin.
void blend(Image& image, int x, int y, Colour colour, double share) {
  std::uint8_t* pixel = image.rgba.data() + (std::size_t(y) * image.width + x) * 4;
  const std::uint8_t ink[] = {colour.red, colour.green, colour.blue};
  for (int c = 0; c < 3; ++c) {
    pixel[c] = static_cast<std::uint8_t>(std::lround(pixel[c] + share * (ink[c] - pixel[c])));
  }
}

/// Draws segments, in pixels; a pixel's share is its overlap with the pen's stroke.
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

std::string cut_text(std::string_view text, double size, double available) {
  if (text_width(text, size) <= available) return std::string(text);
  constexpr std::string_view dots = "...";
  std::string_view rest = text;
  std::size_t kept = 0;
  for (double width = text_width(dots, size); !rest.empty(); kept = text.size() - rest.size()) {
    width += advance(glyph_of(take_character(rest))) * size / capital;
    if (width > available) break;
  }
  while (kept > 0 && text[kept - 1] == ' ') --kept;
  return std::string(text.substr(0, kept)).append(dots);
}

namespace {

/// Calls `take` with the strokes of each glyph of a line, in pixels of the picture.
template <class Take>
void for_each_glyph(std::string_view text, double left, double baseline, double size, Take&& take) {
  const double unit = size / capital;
  while (!text.empty()) {
    const Glyph& glyph = glyph_of(take_character(text));
    std::vector<Segment> segments = Pen().trace(glyph.path);
    const auto x = [&](double v) { return left + (bearing + v * glyph.scale) * unit; };
    const auto y = [&](double v) { return baseline - (v * glyph.scale + glyph.raise) * unit; };
    for (Segment& s : segments) s = {x(s.x0), y(s.y0), x(s.x1), y(s.y1)};
    if (!segments.empty()) take(segments);
    left += advance(glyph) * unit;
  }
}

/// Turns the strokes of each glyph by a quarter, if the line runs upwards.
template <class Take>
void for_each_turned(const TextLine& line, Take&& take) {
  if (!line.upwards) return for_each_glyph(line.text, line.x, line.y, line.size, take);
  for_each_glyph(line.text, 0, 0, line.size, [&](std::vector<Segment>& segments) {
    for (Segment& s : segments) s = {line.x + s.y0, line.y - s.x0, line.x + s.y1, line.y - s.x1};
    take(segments);
  });
}

double pen_radius(double size) { return std::max(0.5, 0.5 * pen * size); }

}  // namespace

void draw_text(Image& image, std::string_view text, double left, double baseline, double size, Colour colour) {
  for_each_glyph(text, left, baseline, size,
                 [&](const std::vector<Segment>& segments) { stroke(image, segments, pen_radius(size), colour); });
}

TextBox box_of(const TextLine& line) {
  TextBox box{1e30, 1e30, -1e30, -1e30};
  for_each_turned(line, [&](const std::vector<Segment>& segments) {
    for (const Segment& s : segments) {
      box.left = std::min({box.left, s.x0, s.x1}), box.right = std::max({box.right, s.x0, s.x1});
      box.top = std::min({box.top, s.y0, s.y1}), box.bottom = std::max({box.bottom, s.y0, s.y1});
    }
  });
  const double radius = pen_radius(line.size);
  return {box.left - radius, box.top - radius, box.right + radius, box.bottom + radius};
}

void draw_line_of_text(Image& image, const TextLine& line, Colour ink, TextBoxes* boxes, std::optional<Colour> halo) {
  const double radius = pen_radius(line.size);
  const auto draw = [&](double wide, Colour colour) {
    for_each_turned(line, [&](const std::vector<Segment>& segments) { stroke(image, segments, wide, colour); });
  };
  if (halo) draw(radius + std::max(1.0, 0.12 * line.size), *halo);
  draw(radius, ink);
  if (boxes != nullptr) boxes->add(box_of(line));
}

void fill_rectangle(Image& image, int left, int top, int right, int bottom, Colour colour) {
  for (int y = std::max(top, 0); y < std::min(bottom, image.height); ++y) {
    for (int x = std::max(left, 0); x < std::min(right, image.width); ++x) blend(image, x, y, colour, 1);
  }
}

namespace {

constexpr double raised = 6.2, small = 0.58;

// Drawn for Sidestream: plain lines and arcs, as on technical drawings, which are legible from 7 pixels upwards.
// clang-format off
constexpr Glyph table[] = {
    {U' ', 3.2, ""},
    {U'!', 0, "m 0 14 l 0 4.4 m 0 0 l 0 0.2"},
    {U'"', 2.8, "m 0 14 l 0 10.4 m 2.8 14 l 2.8 10.4"},
    {U'#', 10.6, "m 2.6 0 l 4.4 14 m 7 0 l 8.8 14 m 0.8 9.6 l 10.6 9.6 m 0.2 4.6 l 10 4.6"},
    {U'$', 8.6, "o 4.3 10.3 4 3.3 35 235 a 4.3 3.6 4.3 3.4 90 -235 m 4.3 15.6 l 4.3 -1.8"},
    {U'%', 12.8, "o 2.8 10.8 2.8 3.2 0 360 o 10 3.2 2.8 3.2 0 360 m 10.6 14 l 2.2 0"},
    {U'&', 9.8, "m 9.8 0 l 2 9.6 q 0.8 11.2 1.4 12.4 q 2.4 14 4 14 q 6.4 13.8 6.4 11.4 q 6.4 9.6 3.2 7.6 "
                "q 0 5.6 0 3.6 q 0.2 0 4.2 0 q 8.6 0.4 9.4 6.4"},
    {U'\'', 0, "m 0 14 l 0 10.4"},
    {U'(', 3.2, "m 3.2 15.5 q -3.2 6.25 3.2 -3"},
    {U')', 3.2, "m 0 15.5 q 6.4 6.25 0 -3"},
    {U'*', 6.4, "m 3.2 14 l 3.2 7.4 m 0.4 12.4 l 6 9 m 6 12.4 l 0.4 9"},
    {U'+', 8, "m 0 6 l 8 6 m 4 2 l 4 10"},
    {U',', 0.6, "m 0.6 0.4 l -0.3 -2.6"},
    {U'-', 5.4, "m 0 5.6 l 5.4 5.6"},
    {U'.', 0, "m 0 0 l 0 0.2"},
    {U'/', 6, "m 0 -1.5 l 6 15"},
    {U'0', 8.6, "o 4.3 7 4.3 7 90 360"},
    {U'1', 8.6, "m 1.4 11 l 5 14 l 5 0"},
    {U'2', 8.6, "o 4.3 9.9 3.9 4.1 160 -195 l 0.2 0 l 8.6 0"},
    {U'3', 8.6, "o 4.2 10.5 3.7 3.5 150 -240 l 3 7 m 4.2 7 a 4.2 3.5 4.3 3.5 90 -240"},
    {U'4', 8.6, "m 6.6 0 l 6.6 14 l 0 4 l 8.8 4"},
    {U'5', 8.6, "m 7.7 14 l 1.5 14 l 0.8 7.56 a 4.1 4.6 4.3 4.6 140 -290"},
    {U'6', 8.6, "o 4.3 4.4 4.3 4.4 180 360 q 0 10.4 6.6 14"},
    {U'7', 8.6, "m 0 14 l 8.6 14 l 3 0"},
    {U'8', 8.6, "o 4.3 10.6 3.7 3.4 -90 360 o 4.3 3.6 4.3 3.6 90 360"},
    {U'9', 8.6, "o 4.3 9.6 4.3 4.4 0 360 q 8.6 3.6 2 0"},
    {U':', 0, "m 0 0.6 l 0 0.8 m 0 8.2 l 0 8.4"},
    {U';', 0.6, "m 0.6 0.6 l -0.3 -2.4 m 0.4 8.2 l 0.4 8.4"},
    {U'<', 8, "m 8 10.5 l 0 6 l 8 1.5"},
    {U'=', 8, "m 0 4.2 l 8 4.2 m 0 7.9 l 8 7.9"},
    {U'>', 8, "m 0 10.5 l 8 6 l 0 1.5"},
    {U'?', 7.4, "o 3.7 10.3 3.6 3.7 160 -200 q 3.7 5.8 3.7 3.8 m 3.7 0 l 3.7 0.2"},
    {U'@', 13, "o 6.5 5.5 2.9 3.4 0 360 m 9.4 8.9 l 9.4 4 q 9.6 2.1 11.2 2.1 q 13 2.3 13 5.5 a 6.5 5.5 6.5 7 0 300"},
    {U'A', 10, "m 0 0 l 5 14 l 10 0 m 1.7 4.8 l 8.3 4.8"},
    {U'B', 8.6, "m 0 0 l 0 14 l 4.8 14 a 4.8 10.6 3.4 3.4 90 -180 l 0 7.2 m 4.8 7.2 a 5 3.6 3.6 3.6 90 -180 l 0 0"},
    {U'C', 9.2, "o 5.2 7 5.2 7 48 264"},
    {U'D', 9.5, "m 0 0 l 0 14 l 3.5 14 a 3.5 7 6 7 90 -180 l 0 0"},
    {U'E', 8, "m 8 14 l 0 14 l 0 0 l 8 0 m 0 7.3 l 7 7.3"},
    {U'F', 8, "m 8 14 l 0 14 l 0 0 m 0 7.3 l 6.8 7.3"},
    {U'G', 9.6, "o 5.2 7 5.2 7 48 270 l 9.6 3.2 l 9.6 6.7 l 5.8 6.7"},
    {U'H', 9, "m 0 0 l 0 14 m 9 0 l 9 14 m 0 7.3 l 9 7.3"},
    {U'I', 0, "m 0 0 l 0 14"},
    {U'J', 6, "m 6 14 l 6 4 a 3 4 3 4 0 -165"},
    {U'K', 8.8, "m 0 0 l 0 14 m 8.5 14 l 0 5.2 m 3.2 8.5 l 8.8 0"},
    {U'L', 7.5, "m 0 14 l 0 0 l 7.5 0"},
    {U'M', 11, "m 0 0 l 0 14 l 5.5 4 l 11 14 l 11 0"},
    {U'N', 9, "m 0 0 l 0 14 l 9 0 l 9 14"},
    {U'O', 11, "o 5.5 7 5.5 7 90 360"},
    {U'P', 8.7, "m 0 0 l 0 14 l 5 14 a 5 10.3 3.7 3.7 90 -180 l 0 6.6"},
    {U'Q', 11, "o 5.5 7 5.5 7 90 360 m 6.5 3.5 l 11 -0.8"},
    {U'R', 8.8, "m 0 0 l 0 14 l 5 14 a 5 10.3 3.7 3.7 90 -180 l 0 6.6 m 4.8 6.6 l 8.8 0"},
    {U'S', 8.6, "o 4.3 10.5 4 3.5 35 235 a 4.3 3.5 4.3 3.5 90 -235"},
    {U'T', 10, "m 0 14 l 10 14 m 5 14 l 5 0"},
    {U'U', 9.2, "m 0 14 l 0 4.8 a 4.6 4.8 4.6 4.8 180 180 l 9.2 14"},
    {U'V', 10, "m 0 14 l 5 0 l 10 14"},
    {U'W', 14, "m 0 14 l 3.5 0 l 7 12 l 10.5 0 l 14 14"},
    {U'X', 9, "m 0 0 l 9 14 m 0 14 l 9 0"},
    {U'Y', 9.6, "m 0 14 l 4.8 7 l 9.6 14 m 4.8 7 l 4.8 0"},
    {U'Z', 9, "m 0 14 l 9 14 l 0 0 l 9 0"},
    {U'[', 3, "m 3 15.5 l 0 15.5 l 0 -3 l 3 -3"},
    {U'\\', 6, "m 0 15 l 6 -1.5"},
    {U']', 3, "m 0 15.5 l 3 15.5 l 3 -3 l 0 -3"},
    {U'^', 7, "m 0 10 l 3.5 14 l 7 10"},
    {U'_', 8.6, "m 0 -2.4 l 8.6 -2.4"},
    {U'`', 2, "m 0 14.5 l 2 12"},
    {U'a', 8.2, "o 4.1 5 4.1 5 0 360 m 8.2 10 l 8.2 0"},
    {U'b', 8.2, "m 0 14 l 0 0 m 0 5 a 4.1 5 4.1 5 180 360"},
    {U'c', 7.4, "o 4.3 5 4.3 5 45 270"},
    {U'd', 8.2, "o 4.1 5 4.1 5 0 360 m 8.2 14 l 8.2 0"},
    {U'e', 8.4, "m 0.1 5.2 l 8.4 5.2 a 4.2 5 4.2 5 2 312"},
    {U'f', 5, "o 5 11.2 2.8 2.8 75 105 l 2.2 0 m 0 9.6 l 4.8 9.6"},
    {U'g', 8.2, "o 4.1 5 4.1 5 0 360 m 8.2 10 l 8.2 -0.6 a 4.2 -0.6 4 3.6 0 -150"},
    {U'h', 7.8, "m 0 0 l 0 14 m 0 6 a 3.9 6 3.9 4 180 -180 l 7.8 0"},
    {U'i', 0, "m 0 0 l 0 10 m 0 13.6 l 0 13.8"},
    {U'j', 2.6, "m 2.6 10 l 2.6 -1.6 a 0.3 -1.6 2.3 2.4 0 -100 m 2.6 13.6 l 2.6 13.8"},
    {U'k', 7.4, "m 0 0 l 0 14 m 7 10 l 0 3.6 m 2.7 6.1 l 7.4 0"},
    {U'l', 0, "m 0 0 l 0 14"},
    {U'm', 12.8, "m 0 0 l 0 10 m 0 6.4 a 3.2 6.4 3.2 3.6 180 -180 l 6.4 0 m 6.4 6.4 a 9.6 6.4 3.2 3.6 180 -180 l 12.8 0"},
    {U'n', 7.8, "m 0 0 l 0 10 m 0 6 a 3.9 6 3.9 4 180 -180 l 7.8 0"},
    {U'o', 8.8, "o 4.4 5 4.4 5 90 360"},
    {U'p', 8.2, "m 0 10 l 0 -4 m 0 5 a 4.1 5 4.1 5 180 360"},
    {U'q', 8.2, "o 4.1 5 4.1 5 0 360 m 8.2 10 l 8.2 -4"},
    {U'r', 4.6, "m 0 0 l 0 10 m 0 6 a 3.7 6 3.7 4 180 -110"},
    {U's', 7, "o 3.5 7.5 3.2 2.5 35 235 a 3.5 2.5 3.5 2.5 90 -235"},
    {U't', 5.4, "m 2.2 13.2 l 2.2 2.8 a 4.7 2.8 2.5 2.8 180 105 m 0 10 l 5 10"},
    {U'u', 7.8, "m 0 10 l 0 4 a 3.9 4 3.9 4 180 180 m 7.8 10 l 7.8 0"},
    {U'v', 8, "m 0 10 l 4 0 l 8 10"},
    {U'w', 12, "m 0 10 l 3 0 l 6 9 l 9 0 l 12 10"},
    {U'x', 7.6, "m 0 0 l 7.6 10 m 0 10 l 7.6 0"},
    {U'y', 8, "m 0 10 l 4 0 m 8 10 l 3.4 -1.6 q 2.4 -4 0.4 -4"},
    {U'z', 7.4, "m 0 10 l 7.4 10 l 0 0 l 7.4 0"},
    {U'{', 3.8, "m 3.8 15.5 q 1.6 15.5 1.6 13 l 1.6 8.5 q 1.6 6.25 0 6.25 q 1.6 6.25 1.6 4 l 1.6 -0.5 q 1.6 -3 3.8 -3"},
    {U'|', 0, "m 0 16 l 0 -3.5"},
    {U'}', 3.8, "m 0 15.5 q 2.2 15.5 2.2 13 l 2.2 8.5 q 2.2 6.25 3.8 6.25 q 2.2 6.25 2.2 4 l 2.2 -0.5 q 2.2 -3 0 -3"},
    {U'~', 8.4, "m 0 5.2 q 2 8.4 4.2 6.4 q 6.4 4.4 8.4 7.6"},
    {U'\u00b0', 3.6, "o 1.8 12.2 1.8 1.8 0 360"},
    {U'\u00b2', 8.6, "o 4.3 9.9 3.9 4.1 160 -195 l 0.2 0 l 8.6 0", small, raised},
    {U'\u00b3', 8.6, "o 4.2 10.5 3.7 3.5 150 -240 l 3 7 m 4.2 7 a 4.2 3.5 4.3 3.5 90 -240", small, raised},
    {U'\u00b5', 7.8, "m 0 10 l 0 -4 m 0 4 a 3.9 4 3.9 4 180 180 m 7.8 10 l 7.8 0"},
    {U'\u00b7', 0, "m 0 5.9 l 0 6.1"},
    {U'\u00b9', 5, "m 0.4 11 l 4 14 l 4 0", small, raised},
    {U'\u00c5', 10, "m 0 0 l 5 12.4 l 10 0 m 1.7 4.4 l 8.3 4.4 o 5 14.6 1.7 1.7 0 360"},
    {U'\u00d7', 6.4, "m 0 2.8 l 6.4 9.2 m 0 9.2 l 6.4 2.8"},
    {U'\u0394', 10, "m 0 0 l 5 14 l 10 0 l 0 0"},
    {U'\u03a9', 10.4, "m 0 0 l 3.6 0 l 3.6 1.4 a 5.2 8 5.2 6 245 -310 l 6.8 0 l 10.4 0"},
    {U'\u03b8', 7.6, "o 3.8 7 3.8 7 90 360 m 0 7 l 7.6 7"},
    {U'\u03bc', 7.8, "m 0 10 l 0 -4 m 0 4 a 3.9 4 3.9 4 180 180 m 7.8 10 l 7.8 0"},
    {U'\u03c1', 8.2, "m 0 -4 l 0 5 a 4.1 5 4.1 5 180 -360"},
    {U'\u03c3', 9, "o 4.2 4.7 4.2 4.7 90 360 m 4.2 9.4 l 9 9.4"},
    {U'\u03c4', 7.4, "m 0 9.8 l 7.4 9.8 m 3.4 9.8 l 3.4 2.6 a 5.6 2.6 2.2 2.6 180 95"},
    {U'\u03c6', 9.4, "o 4.7 5 4.7 5 90 360 m 4.7 14 l 4.7 -4"},
    {U'\u03c9', 11, "m 1.6 10 q -1.2 0 2.6 0 q 5.5 0 5.5 6.4 q 5.5 0 8.4 0 q 12.2 0 9.4 10"},
    {U'\u2070', 8.6, "o 4.3 7 4.3 7 90 360", small, raised},
    {U'\u2074', 8.6, "m 6.6 0 l 6.6 14 l 0 4 l 8.8 4", small, raised},
    {U'\u2075', 8.6, "m 7.7 14 l 1.5 14 l 0.8 7.56 a 4.1 4.6 4.3 4.6 140 -290", small, raised},
    {U'\u2076', 8.6, "o 4.3 4.4 4.3 4.4 180 360 q 0 10.4 6.6 14", small, raised},
    {U'\u2077', 8.6, "m 0 14 l 8.6 14 l 3 0", small, raised},
    {U'\u2078', 8.6, "o 4.3 10.6 3.7 3.4 -90 360 o 4.3 3.6 4.3 3.6 90 360", small, raised},
    {U'\u2079', 8.6, "o 4.3 9.6 4.3 4.4 0 360 q 8.6 3.6 2 0", small, raised},
    {U'\u207b', 6.4, "m 0 6.6 l 6.4 6.6", small, raised},
    {U'\u2207', 10, "m 0 14 l 5 0 l 10 14 l 0 14"},
    {U'\u2212', 8, "m 0 6 l 8 6"},
};
// clang-format on

constexpr Glyph missing{0, 8, "m 0 0 l 0 14 l 8 14 l 8 0 l 0 0"};

}  // namespace

std::span<const Glyph> glyphs() noexcept { return table; }

const Glyph& missing_glyph() noexcept { return missing; }

}  // namespace sidestream::rendering
