// Pixels from samples.
//
// 1. In rows without translucent samples and volumes a pixel is the mean of its samples, in integers.
// 2. In other rows, translucent samples are sorted by column and depth, and slabs by column and number; slabs of one
//    number are added up. That makes an order which does not depend on where they were drawn.
// 3. Each sample adds light from front to back: the slabs up to a translucent sample, then this sample's share, and so
//    on up to the opaque sample or the background. A slab counts by its fraction in front.
#include <algorithm>
#include <cmath>
#include <limits>

#include "visualisation/graphics/compositing.hpp"

namespace sidestream::rendering {
namespace {

using Pixel = std::array<std::uint8_t, 4>;

/// Uses integer sums, so that the mean is exact in any order.
Pixel opaque_pixel(const Framebuffer& stripe, std::int64_t x, std::int64_t y, int samples, Colour behind) {
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

/// Light on its way through one sample, from front to back.
class Ray {
 public:
  Ray(std::span<const SlabRecord> slabs, const Translucency& translucency)
      : slabs_(slabs), translucency_(translucency) {}

  /// Adds a surface at a sample's depth, and the slabs in front of it.
  void surface(Sample sample, double opacity) {
    const double depth = depth_of(sample) / deepest_depth;
    pass(slabs_.empty() ? 0 : translucency_.slabs->position(translucency_.camera->ahead_at(depth)));
    add(colour_of(sample), opacity);
  }
  /// Adds all remaining samples, and the background.
  void background(Colour colour) {
    pass(std::numeric_limits<double>::infinity());
    add(colour, 1);
  }
  [[nodiscard]] const std::array<double, 3>& light() const noexcept { return light_; }

 private:
  void add(Colour colour, double opacity) {
    const double seen = through_ * opacity;
    light_[0] += seen * to_linear(colour.red);
    light_[1] += seen * to_linear(colour.green);
    light_[2] += seen * to_linear(colour.blue);
    through_ *= 1 - opacity;
  }
  /// Passes the slabs up to a position, which counts in slabs.
  void pass(double end) {
    for (; !slabs_.empty(); slabs_ = slabs_.subspan(1), passed_ = 0) {
      const SlabRecord& slab = slabs_.front();
      const double begin = slab.slab + passed_, until = std::min(end, slab.slab + 1.0);
      if (until <= begin) return;
      absorb(slab.light, until - begin);
      if (until < slab.slab + 1.0) {
        passed_ = until - slab.slab;
        return;
      }
    }
  }
  void absorb(const SlabLight& light, double fraction) {
    if (light.extinction == 0) return;
    const double opacity = 1 - std::exp(-fraction * light.extinction / light_unit);
    const double seen = through_ * opacity * 65535 / light.extinction;
    light_[0] += seen * light.red;
    light_[1] += seen * light.green;
    light_[2] += seen * light.blue;
    through_ *= 1 - opacity;
  }

  std::span<const SlabRecord> slabs_;
  const Translucency& translucency_;
  double passed_ = 0;  ///< fraction of the first slab
  double through_ = 1;
  std::array<double, 3> light_{};
};

/// One row of pixels, from left to right.
class TranslucentRow {
 public:
  TranslucentRow(Drawing& stripe, std::int64_t y, Colour behind, const Translucency& translucency)
      : stripe_(stripe), y_(y), behind_(behind), translucency_(translucency), slabs_(stripe.slabs.row(y)) {
    add_up(slabs_);
    for (int dy = 0; dy < stripe.samples; ++dy) {
      std::vector<Fragment>& row = stripe.fragments.row(y * stripe.samples + dy);
      std::sort(row.begin(), row.end(), [](const Fragment& a, const Fragment& b) {
        return a.column != b.column ? a.column < b.column : a.sample < b.sample;
      });
      fragments_.push_back(row);
    }
  }
  static bool is_needed(const Drawing& stripe, std::int64_t y) {
    bool any = !stripe.slabs.row(y).empty();
    for (int dy = 0; dy < stripe.samples; ++dy) any = any || !stripe.fragments.row(y * stripe.samples + dy).empty();
    return any;
  }

  /// The next pixel; x = 0, 1, ...
  Pixel pixel(std::int64_t x) {
    const auto elsewhere = [x](const SlabRecord& slab) { return slab.column != static_cast<std::uint32_t>(x); };
    const std::span<const SlabRecord> left = std::span(slabs_).subspan(next_slab_);
    const auto slabs =
        left.first(static_cast<std::size_t>(std::find_if(left.begin(), left.end(), elsewhere) - left.begin()));
    next_slab_ += slabs.size();
    const int samples = stripe_.samples;
    std::array<double, 3> sum{};
    bool nothing = slabs.empty();
    for (int dy = 0; dy < samples; ++dy) {
      const Sample* row = stripe_.opaque.row(y_ * samples + dy) + x * samples;
      for (int dx = 0; dx < samples; ++dx) {
        const auto light = light_of(row[dx], take(dy, x * samples + dx), slabs, nothing);
        for (std::size_t c = 0; c < 3; ++c) sum[c] += light[c];
      }
    }
    if (nothing) return {behind_.red, behind_.green, behind_.blue, 255};
    const auto mean = [&](std::size_t c) { return to_srgb(static_cast<std::uint32_t>(sum[c] / (samples * samples))); };
    return {mean(0), mean(1), mean(2), 255};
  }

 private:
  /// The fragments of a sample.
  std::span<const Fragment> take(int dy, std::int64_t column) {
    std::span<const Fragment>& left = fragments_[static_cast<std::size_t>(dy)];
    std::size_t count = 0;
    while (count < left.size() && left[count].column == static_cast<std::uint32_t>(column)) ++count;
    const auto taken = left.first(count);
    left = left.subspan(count);
    return taken;
  }
  std::array<double, 3> light_of(Sample opaque, std::span<const Fragment> fragments, std::span<const SlabRecord> slabs,
                                 bool& nothing) const {
    Ray ray(slabs, translucency_);
    for (const Fragment& fragment : fragments) {
      if (fragment.sample >= opaque) break;
      nothing = false;
      ray.surface(fragment.sample, translucency_.opacity[layer_of(fragment.sample)]);
    }
    if (opaque == empty_sample) {
      ray.background(behind_);
    } else {
      nothing = false;
      ray.surface(opaque, 1);
    }
    return ray.light();
  }

  Drawing& stripe_;
  std::int64_t y_;
  Colour behind_;
  const Translucency& translucency_;
  std::vector<SlabRecord>& slabs_;
  std::size_t next_slab_ = 0;
  std::vector<std::span<const Fragment>> fragments_;  ///< the remaining ones, by row of samples
};

}  // namespace

std::vector<std::uint8_t> resolve(Drawing& stripe, std::int64_t height, const Background& background,
                                  const Translucency& translucency) {
  const std::int64_t width = stripe.opaque.width() / stripe.samples;
  const std::int64_t first = stripe.opaque.first_row() / stripe.samples, end = stripe.opaque.end_row() / stripe.samples;
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(width * (end - first) * 4));
  for (std::int64_t y = first; y < end; ++y) {
    const Colour behind = background.at(y, height);
    std::optional<TranslucentRow> row;
    if (TranslucentRow::is_needed(stripe, y)) row.emplace(stripe, y, behind, translucency);
    for (std::int64_t x = 0; x < width; ++x) {
      const Pixel pixel = row ? row->pixel(x) : opaque_pixel(stripe.opaque, x, y, stripe.samples, behind);
      pixels.insert(pixels.end(), pixel.begin(), pixel.end());
    }
  }
  return pixels;
}

}  // namespace sidestream::rendering
