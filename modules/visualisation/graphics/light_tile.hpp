// The light of a square of pixels while rays are cast through volumes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "visualisation/graphics/camera.hpp"
#include "visualisation/graphics/light_slabs.hpp"
#include "visualisation/graphics/sparse_rows.hpp"
#include "visualisation/graphics/transfer_function.hpp"

namespace sidestream::rendering {

inline constexpr std::int64_t tile_width = 16;

/// A line of sight: origin + t * direction is t ahead of the camera.
struct SightLine {
  Vec3 origin, direction, inverse;
  Across across{};
  double length = 1;  ///< of the direction
  double begin = 0;   ///< nothing nearer is seen

  SightLine() = default;
  SightLine(const Camera& camera, double x, double y) : across(camera.across(x, y)) {
    const Vec3 aside = add(scale(camera.right(), across.right), scale(camera.up(), across.up));
    origin = camera.parallel() ? add(camera.eye(), aside) : camera.eye();
    direction = camera.parallel() ? camera.forward() : add(camera.forward(), aside);
    begin = camera.parallel() ? -std::numeric_limits<double>::infinity() : camera.near();
    length = rendering::length(direction);
    for (std::size_t a = 0; a < 3; ++a) {
      // A line along a face counts to the cell above it, like a very slightly inclined one.
      if (std::fabs(direction[a]) < 1e-200) direction[a] = 1e-200;
      inverse[a] = 1 / direction[a];
    }
  }
  /// Distance ahead where it meets a plane across an axis.
  [[nodiscard]] double meets(std::size_t axis, double place) const noexcept {
    return (place - origin[axis]) * inverse[axis];
  }
};

/// Part of a line of sight in one cell, with the numbers at its ends.
struct Path {
  double from, to;
  float first, last;
};

/// Pixels of a picture, both ends included.
struct PixelBox {
  std::int64_t left, right, top, bottom;
};

/// A square of pixels: a line of sight through the middle of each, and the light in each slab.
class LightTile {
 public:
  explicit LightTile(const DepthSlabs& slabs)
      : slabs_(slabs),
        lines_(static_cast<std::size_t>(tile_width * tile_width)),
        light_(static_cast<std::size_t>(tile_width * tile_width * DepthSlabs::count)) {}

  /// Moves to the square whose first pixel is (left, top). The camera's viewport is in samples.
  void begin(const Camera& camera, int samples, std::int64_t left, std::int64_t top) {
    left_ = left;
    top_ = top;
    for (std::int64_t y = 0; y < tile_width; ++y) {
      for (std::int64_t x = 0; x < tile_width; ++x) {
        lines_[static_cast<std::size_t>(y * tile_width + x)] = SightLine(
            camera, (static_cast<double>(left + x) + 0.5) * samples, (static_cast<double>(top + y) + 0.5) * samples);
      }
    }
  }

  /// Calls `f(line, slabs)` for each pixel in the tile and in `box`.
  template <class F>
  void for_each(const PixelBox& box, F&& f) {
    for (std::int64_t y = std::max(box.top, top_); y <= std::min(box.bottom, top_ + tile_width - 1); ++y) {
      for (std::int64_t x = std::max(box.left, left_); x <= std::min(box.right, left_ + tile_width - 1); ++x) {
        const std::int64_t pixel = (y - top_) * tile_width + x - left_;
        f(lines_[static_cast<std::size_t>(pixel)], light_.data() + pixel * DepthSlabs::count);
      }
    }
  }

  /// Adds the light along a path that is not longer than a slab. `mean` is that along the path.
  void put(double from, double to, const Light& mean, double length, SlabLight* slabs) const {
    if (!(mean.extinction > 0)) return;
    const double along = std::min((to - from) * length, 1e100);  // so that products are finite
    slabs[slabs_.of(0.5 * (from + to))].add(
        to_units({mean.extinction * along, mean.red * along, mean.green * along, mean.blue * along}));
  }
  /// Adds the light along any path. A path longer than a slab is cut at the borders of slabs.
  void put_long(const Path& path, const TransferFunction& function, double length, SlabLight* slabs) const {
    const double slope = (path.last - path.first) / (path.to - path.from);
    Path part = path;
    for (int s = slabs_.of(path.from); part.from < path.to; ++s) {
      part.to = s + 1 < DepthSlabs::count ? std::min(path.to, slabs_.end(s)) : path.to;
      part.last = static_cast<float>(path.first + (part.to - path.from) * slope);
      if (part.to > part.from) {
        put(part.from, part.to,
            function.mean(part.first, function.integral(part.first), part.last, function.integral(part.last)), length,
            slabs);
      }
      part.from = std::max(part.from, part.to);
      part.first = part.last;
    }
  }

  /// Moves the light to the rows of a picture.
  void take(std::int64_t width, std::int64_t height, SparseRows<SlabRecord>& rows) {
    for (std::int64_t y = 0; y < tile_width && top_ + y < height; ++y) {
      std::vector<SlabRecord>& row = rows.row(top_ + y);
      for (std::int64_t x = 0; x < tile_width && left_ + x < width; ++x) {
        SlabLight* slabs = light_.data() + (y * tile_width + x) * DepthSlabs::count;
        for (std::uint32_t s = 0; s < DepthSlabs::count; ++s) {
          if (slabs[s].nothing()) continue;
          row.push_back({static_cast<std::uint32_t>(left_ + x), s, slabs[s]});
          slabs[s] = {};
        }
      }
    }
  }

 private:
  DepthSlabs slabs_;
  std::int64_t left_ = 0, top_ = 0;
  std::vector<SightLine> lines_;
  std::vector<SlabLight> light_;  ///< by pixel, then by slab
};

/// The pixels between the projections of some corners, widened by one. The whole picture if a corner is too near to the
/// camera. Empty (left > right or top > bottom) if they are beyond it. `samples` along each axis of a pixel.
[[nodiscard]] PixelBox pixels_between(const Camera& camera, std::span<const Vec3> corners, std::int64_t width,
                                      std::int64_t height, int samples);

}  // namespace sidestream::rendering
