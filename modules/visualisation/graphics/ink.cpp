#include "visualisation/graphics/ink.hpp"

#include <algorithm>
#include <cmath>

namespace sidestream::rendering {
namespace {

Colour pixel_at(const Image& image, double x, double y) {
  const auto column = static_cast<std::size_t>(std::clamp<double>(x, 0, image.width - 1));
  const auto row = static_cast<std::size_t>(std::clamp<double>(y, 0, image.height - 1));
  const std::uint8_t* pixel = image.rgba.data() + (row * static_cast<std::size_t>(image.width) + column) * 4;
  return {pixel[0], pixel[1], pixel[2]};
}

}  // namespace

Colour ink_at(const Image& image, double x, double y) { return ink_on(pixel_at(image, x, y)); }

Ink ink_in(const Image& image, const TextBox& box) {
  const Colour dark = ink_on({255, 255, 255}), light = ink_on({0, 0, 0});
  std::int64_t on_light = 0, all = 0;
  for (double y = box.top + 0.5; y < box.bottom; y += 1) {
    for (double x = box.left + 0.5; x < box.right; x += 1) {
      on_light += ink_at(image, x, y) == dark;
      ++all;
    }
  }
  // A few pixels of another kind, such as a line that the text crosses, need no edges.
  const bool mixed = std::min(on_light, all - on_light) * 20 > all;
  const bool on_mostly_light = 2 * on_light >= all;
  const Ink plain{on_mostly_light ? dark : light, std::nullopt};
  return mixed ? Ink{plain.colour, on_mostly_light ? light : dark} : plain;
}

void draw_stroke(Image& image, const std::array<double, 2>& from, const std::array<double, 2>& to, double width,
                 Colour colour) {
  const double dx = to[0] - from[0], dy = to[1] - from[1], square = dx * dx + dy * dy, reach = 0.5 * width + 1;
  const auto within = [](double v, int most) { return static_cast<int>(std::clamp<double>(v, 0, most)); };
  const int left = within(std::min(from[0], to[0]) - reach, image.width);
  const int right = within(std::max(from[0], to[0]) + reach + 1, image.width);
  const int top = within(std::min(from[1], to[1]) - reach, image.height);
  const int bottom = within(std::max(from[1], to[1]) + reach + 1, image.height);
  const std::array<std::uint8_t, 3> ink{colour.red, colour.green, colour.blue};
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      const double px = x + 0.5 - from[0], py = y + 0.5 - from[1];
      const double t = square > 0 ? std::clamp((px * dx + py * dy) / square, 0.0, 1.0) : 0;
      const double share = std::clamp(0.5 * width + 0.5 - std::hypot(px - t * dx, py - t * dy), 0.0, 1.0);
      if (!(share > 0)) continue;
      std::uint8_t* pixel =
          image.rgba.data() + (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + x) * 4;
      for (std::size_t c = 0; c < 3; ++c) {
        pixel[c] = static_cast<std::uint8_t>(std::lround(pixel[c] + share * (ink[c] - pixel[c])));
      }
    }
  }
}

}  // namespace sidestream::rendering
