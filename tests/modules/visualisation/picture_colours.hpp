// The colours that pixels must have in a picture that shows a field, found without the renderer's lights. Pictures of
// the same shapes in grey and in black tell how much light falls on each pixel. The grey is 192 of 255, which no light
// turns into white.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "sidestream/data/result.hpp"
#include "visualisation/graphics/colour.hpp"

namespace sidestream::testing {

/// A picture of the cube from -1 to 1, seen from above without perspective, so that each pixel shows a known position.
inline const std::string from_above =
    "size: [96, 96], samples: 1, outline: false, colour_bar: false, caption: none, background: '#ff00ff', "
    "domain: [-1, -1, -1, 1, 1, 1], camera: {position: [0, 0, 4], focus: [0, 0, 0], up: [0, 1, 0], projection: parallel}";

/// The coordinate, x or y, of the centre of a pixel.
inline double place_of_pixel(int pixel) {
  const double half = 4 * std::tan(std::acos(-1.0) / 12);
  return ((pixel + 0.5) / 96 * 2 - 1) * half;
}

/// Converts sRGB (0 to 255) to light (0 to 1), and back.
inline double light_of(double value) {
  const double s = value / 255;
  return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
}
inline double srgb_of(double light) {
  const double l = std::clamp(light, 0.0, 1.0);
  return 255 * (l <= 0.0031308 ? l * 12.92 : 1.055 * std::pow(l, 1 / 2.4) - 0.055);
}

struct PictureColours {
  int covered = 0;     ///< pixels that show something
  double worst = 0;    ///< the largest difference of a channel, of 255
  double between = 0;  ///< the largest difference between two covered pixels: a picture of one colour has none
};

/// Compares a picture in `colours` with what it should show: the colour map at `fraction` of a position, which is
/// uncertain by `slack`. `grey` and `black` are pictures of the same shapes in those colours. Shapes without light have
/// just these colours.
inline PictureColours compare_colours(const Image& image, const Image& grey, const Image& black,
                                      const std::string& colours,
                                      const std::function<double(double x, double y)>& fraction, double slack) {
  PictureColours result;
  const rendering::ColourMap map(colours);
  std::array<double, 3> low{255, 255, 255}, high{0, 0, 0};
  for (int py = 0; py < image.height; ++py) {
    for (int px = 0; px < image.width; ++px) {
      const auto at =
          (static_cast<std::size_t>(py) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(px)) * 4;
      if (std::equal(&grey.rgba[at], &grey.rgba[at] + 3, &black.rgba[at])) continue;  // the background
      ++result.covered;
      double nearest = 255;
      const double t = fraction(place_of_pixel(px), -place_of_pixel(py));
      for (int step = -8; step <= 8; ++step) {
        const rendering::Colour base = map.at(std::clamp(t + step * slack / 8, 0.0, 1.0));
        const std::array<double, 3> channels{double(base.red), double(base.green), double(base.blue)};
        double worst = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          const double dark = light_of(black.rgba[at + c]), bright = light_of(grey.rgba[at + c]);
          const double wanted = srgb_of(dark + (bright - dark) * light_of(channels[c]) / light_of(192));
          worst = std::max(worst, std::abs(wanted - image.rgba[at + c]));
        }
        nearest = std::min(nearest, worst);
      }
      result.worst = std::max(result.worst, nearest);
      for (std::size_t c = 0; c < 3; ++c) {
        low[c] = std::min(low[c], double(image.rgba[at + c]));
        high[c] = std::max(high[c], double(image.rgba[at + c]));
      }
    }
  }
  for (std::size_t c = 0; c < 3; ++c) result.between = std::max(result.between, high[c] - low[c]);
  return result;
}

}  // namespace sidestream::testing
