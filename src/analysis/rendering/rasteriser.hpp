// Draws triangles into a framebuffer.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/rendering/camera.hpp"
#include "analysis/rendering/clipping.hpp"
#include "analysis/rendering/colour_map.hpp"
#include "analysis/rendering/framebuffer.hpp"
#include "analysis/rendering/shading.hpp"

namespace sidestream::rendering {

/// Triangles with shared points; the views must outlive the call. `normals` (any length, both orientations
/// welcome) and `values` are empty or as long as `points`.
struct Triangles {
  std::span<const Vec3> points;
  std::span<const std::array<std::int64_t, 3>> corners;
  std::span<const Vec3> normals;
  std::span<const double> values;
};

/// What a surface looks like. With a map and values the colour comes from those, else it is `colour`; lit if
/// there are normals. Of two surfaces at exactly the same depth the lower layer is seen.
struct Material {
  std::uint8_t layer = 0;
  Colour colour;
  const ColourMap* map = nullptr;
  ColourRange range;
};

/// A z-buffer rasteriser whose samples depend on nothing but the triangle: corners are snapped to 1/256
/// sample, coverage is decided by exact integer edge functions with the top-left rule (two triangles that
/// share an edge cover each sample once), and interpolation starts from a canonical corner. So the same
/// triangle gives the same bits in whatever order, process or range of rows it is drawn. After Pineda, "A
/// parallel algorithm for polygon rasterization" (1988).
class Rasteriser {
 public:
  /// Both are kept by reference. The camera's viewport is in samples.
  Rasteriser(const Camera& camera, Framebuffer& framebuffer) : camera_(camera), target_(framebuffer) {}

  void draw(const Triangles& triangles, const Material& material);

 private:
  struct Corner {
    std::int32_t x, y;  ///< in 1/256 sample
    bool regular;       ///< ahead of the camera and not far outside; otherwise the triangle is clipped
    double depth, weight;
  };
  struct SampleBox {  ///< columns left..right and rows top..bottom, both ends included
    std::int64_t left, right, top, bottom;
    [[nodiscard]] bool empty() const noexcept { return left > right || top > bottom; }
  };
  using Three = std::array<std::int64_t, 3>;

  [[nodiscard]] Corner corner_at(const Seen& seen) const noexcept;
  /// Rearranges into the canonical order; returns twice the area in units of (1/256 sample)^2, perhaps 0.
  static std::int64_t arrange(std::array<const Corner*, 3>& corners, std::array<const Attributes*, 3>& attributes);
  void fill(std::array<const Corner*, 3> corners, std::array<const Attributes*, 3> attributes);
  [[nodiscard]] SampleBox box_of(const Corner& a, const Corner& b, const Corner& c) const noexcept;
  void draw_clipped(const Triangles& triangles, const Three& three);
  [[nodiscard]] Attributes attributes_at(const Triangles& triangles, std::int64_t point) const noexcept;
  [[nodiscard]] Colour colour_at(const Attributes& attributes, std::int64_t x, std::int64_t y) const noexcept;

  const Camera& camera_;
  Framebuffer& target_;
  Lights lights_;
  Material material_;
  bool lit_ = false, mapped_ = false;
  std::vector<Corner> corners_;  ///< kept between calls to spare the allocation
};

}  // namespace sidestream::rendering
