#include "graphics/resolve.hpp"

#include <array>

namespace sidestream::rendering {
namespace {

/// Integer sums, so that the mean is exact whatever the order.
std::array<std::uint8_t, 4> pixel_of(const Framebuffer& stripe, std::int64_t x, std::int64_t y, int samples,
                                     Colour behind) {
  std::uint32_t red = 0, green = 0, blue = 0;
  bool nothing = true;
  for (int dy = 0; dy < samples; ++dy) {
    const Sample* row = stripe.row(y * samples + dy) + x * samples;
    for (int dx = 0; dx < samples; ++dx) {
      nothing = nothing && row[dx] == empty_sample;
      const Colour colour = row[dx] == empty_sample ? behind : colour_of(row[dx]);
      red += to_linear(colour.red);
      green += to_linear(colour.green);
      blue += to_linear(colour.blue);
    }
  }
  if (nothing) return {behind.red, behind.green, behind.blue, 255};
  const auto count = static_cast<std::uint32_t>(samples * samples);
  return {to_srgb(red / count), to_srgb(green / count), to_srgb(blue / count), 255};
}

}  // namespace

std::vector<std::uint8_t> resolve(const Framebuffer& stripe, int samples, std::int64_t height,
                                  const Background& background) {
  const std::int64_t width = stripe.width() / samples;
  const std::int64_t first = stripe.first_row() / samples, end = stripe.end_row() / samples;
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(width * (end - first) * 4));
  for (std::int64_t y = first; y < end; ++y) {
    const Colour behind = background.at(y, height);
    for (std::int64_t x = 0; x < width; ++x) {
      const auto pixel = pixel_of(stripe, x, y, samples, behind);
      pixels.insert(pixels.end(), pixel.begin(), pixel.end());
    }
  }
  return pixels;
}

}  // namespace sidestream::rendering
