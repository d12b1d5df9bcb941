#include "graphics/compositing.hpp"

#include <array>
#include <vector>

namespace sidestream::rendering {

namespace {

struct Stripe {
  std::int64_t first_row = 0, end_row = 0;
};

/// The rows of a picture of `height` rows that member `rank` of `size` completes: equal shares to within one row, in
/// multiples of `unit` rows. Some members have none if there are more members than shares.
Stripe stripe_of(std::int64_t height, std::int64_t unit, int rank, int size) {
  const std::int64_t shares = height / unit;
  return {shares * rank / size * unit, shares * (rank + 1) / size * unit};
}

}  // namespace

Framebuffer composite(std::span<const Bytes> partials, std::int64_t width, std::int64_t height, std::int64_t unit,
                      Communicator& communicator) {
  const int size = communicator.size();
  const Stripe mine = stripe_of(height, unit, communicator.rank(), size);
  Framebuffer stripe(width, mine.first_row, mine.end_row - mine.first_row);
  if (size == 1) {
    for (const Bytes& partial : partials) merge_runs(partial, stripe);
    return stripe;
  }
  std::vector<Bytes> to(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) {
    const Stripe theirs = stripe_of(height, unit, r, size);
    // Each partial's runs stay in order; several partials follow one another.
    for (const Bytes& partial : partials) select_runs(partial, theirs.first_row, theirs.end_row, to[r]);
  }
  for (const Bytes& runs : communicator.all_to_all(to)) merge_runs(runs, stripe);
  return stripe;
}

namespace {

/// Uses integer sums, so that the mean is exact in any order.
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
