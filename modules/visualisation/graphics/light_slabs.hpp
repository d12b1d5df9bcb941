// Light that volumes emit and absorb, in slabs of equal thickness across the line of sight.
//
// Light must be added up from front to back, which rounds differently for each division of a line of sight. So a line
// is divided into slabs, which depend on the camera and the domain only. In a slab the contributions of all cells are
// added as integers, in any order. Slabs are then composited from front to back, once, where the picture is completed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "visualisation/graphics/camera.hpp"

namespace sidestream::rendering {

/// The division of the domain into slabs, by distance ahead of the camera.
class DepthSlabs {
 public:
  static constexpr int count = 128;

  DepthSlabs(const Camera& camera, const Domain& domain);
  /// Position in slabs: from n to n + 1 in slab n. Below 0 or above `count` outside the domain.
  [[nodiscard]] double position(double ahead) const noexcept { return (ahead - first_) * inverse_; }
  /// The slab of a distance. Distances before the first slab count in it, and likewise behind the last.
  [[nodiscard]] int of(double ahead) const noexcept {
    return static_cast<int>(std::clamp(position(ahead), 0.0, count - 1.0));
  }
  /// Distance ahead where a slab ends.
  [[nodiscard]] double end(int slab) const noexcept { return first_ + (slab + 1) * thickness_; }
  [[nodiscard]] double thickness() const noexcept { return thickness_; }

 private:
  double first_, thickness_, inverse_;
};

/// Extinction along a path (its optical depth), and the light that is emitted along it: linear red, green and blue,
/// each multiplied by the extinction.
struct Light {
  double extinction = 0, red = 0, green = 0, blue = 0;
};

/// The light of one slab of one pixel in units of 1 / `light_unit`. Sums stop at the largest number: they are the same
/// in any order.
struct SlabLight {
  std::uint32_t extinction = 0, red = 0, green = 0, blue = 0;

  [[nodiscard]] bool nothing() const noexcept { return (extinction | red | green | blue) == 0; }
  void add(const SlabLight& more) noexcept {
    extinction = sum(extinction, more.extinction);
    red = sum(red, more.red);
    green = sum(green, more.green);
    blue = sum(blue, more.blue);
  }

 private:
  static std::uint32_t sum(std::uint32_t a, std::uint32_t b) noexcept {
    const std::uint32_t both = a + b;
    return both < a ? UINT32_MAX : both;
  }
};

inline constexpr double light_unit = 1 << 20;

/// Rounds the light of a path, which is not negative. An extinction above 64 lets no light through; it becomes 64.
[[nodiscard]] inline SlabLight to_units(const Light& light) noexcept {
  const double scale = light.extinction > 64 ? 64 / light.extinction * light_unit : light_unit;
  const auto whole = [scale](double x) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(x * scale + 0.5));
  };
  return {whole(light.extinction), whole(light.red), whole(light.green), whole(light.blue)};
}

/// The light of one slab in a row of pixels.
struct SlabRecord {
  std::uint32_t column = 0, slab = 0;
  SlabLight light{};
};

/// Sorts the records of a row by column and slab, and adds up the records of one slab.
void add_up(std::vector<SlabRecord>& row);

}  // namespace sidestream::rendering
