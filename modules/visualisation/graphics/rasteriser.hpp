// Drawing of triangles into a framebuffer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "visualisation/contour/contour.hpp"
#include "visualisation/graphics/camera.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/graphics/drawing.hpp"
#include "visualisation/graphics/framebuffer.hpp"
#include "visualisation/graphics/shading.hpp"

namespace sidestream::rendering {

/// Triangles with shared points; the views must outlive the call. `normals` (of any length and either orientation) and
/// `values` are empty or as long as `points`.
struct Triangles {
  std::span<const Vec3> points;
  std::span<const std::array<std::int64_t, 3>> corners;
  std::span<const Vec3> normals;
  std::span<const double> values;
};

/// Appearance of a surface. With a map and values the colour comes from those, otherwise it is `colour`; lit if there
/// are normals. Of two surfaces at exactly the same depth the lower layer is visible.
struct Material {
  std::uint8_t layer = 0;
  /// True for deferred shading of a lit material of one colour: samples keep its direction (rasteriser.hpp) instead
  /// of a colour, and Shades computes the colour when all is drawn. The layer then belongs only to this material.
  bool later = false;
  /// True if the layer is transparent. All of its samples are then kept as fragments.
  bool translucent = false;
  Colour colour;
  const ColourMap* map = nullptr;
  ColourRange range;
};

/// The farthest depth in each square of samples: triangles behind it need not be drawn. After Greene, Kass and Miller,
/// "Hierarchical Z-buffer visibility" (1993), with one level.
class HiddenSquares {
 public:
  static constexpr int bits = 3;  ///< 8 samples wide
  explicit HiddenSquares(const Framebuffer& framebuffer)
      : target_(framebuffer),
        across_(((framebuffer.width() - 1) >> bits) + 1),
        squares_(
            static_cast<std::size_t>(across_ * (((framebuffer.end_row() - framebuffer.first_row() - 1) >> bits) + 1))) {
  }
  /// True if nothing at this depth or beyond is visible in the columns left..right and the rows top..bottom.
  [[nodiscard]] bool hide(std::int64_t left, std::int64_t right, std::int64_t top, std::int64_t bottom,
                          std::uint32_t depth) {
    const std::int64_t first = target_.first_row();
    for (std::int64_t y = (top - first) >> bits; y <= (bottom - first) >> bits; ++y) {
      for (std::int64_t x = left >> bits; x <= right >> bits; ++x) {
        Square& square = squares_[static_cast<std::size_t>(y * across_ + x)];
        if (depth > square.farthest) continue;
        if (++square.asked >= patience) measure(x, y, square);
        if (depth <= square.farthest) return false;
      }
    }
    return true;
  }

 private:
  static constexpr int patience = 24;  ///< queries before a square is measured again
  struct Square {
    std::uint32_t farthest = 0xffffffff;  ///< or more than the present value
    std::uint32_t asked = 0;
  };
  void measure(std::int64_t x, std::int64_t y, Square& square) const;

  const Framebuffer& target_;
  std::int64_t across_;
  std::vector<Square> squares_;
};

/// A z-buffer rasteriser whose samples depend only on the triangle. Corners are snapped to 1/256 sample. Coverage is
/// decided by exact integer edge functions with the top-left rule (two triangles that share an edge cover each sample
/// once). Interpolation starts from a canonical corner. The same triangle therefore gives the same bits in whatever
/// order, process or range of rows it is drawn. After Pineda, "A parallel algorithm for polygon rasterization" (1988).
class Rasteriser {
 public:
  /// Keeps references to both. The camera's viewport is in samples.
  Rasteriser(const Camera& camera, Framebuffer& framebuffer)
      : camera_(camera), target_(framebuffer), hidden_(framebuffer) {}
  /// Also draws translucent materials, which without a drawing are opaque.
  Rasteriser(const Camera& camera, Drawing& drawing) : Rasteriser(camera, drawing.opaque) {
    fragments_ = &drawing.fragments;
  }

  void draw(const Triangles& triangles, const Material& material);

  /// A point of a triangle, projected.
  struct Corner {
    std::int32_t x, y;  ///< in 1/256 sample
    bool regular;       ///< ahead of the camera and not far outside; otherwise the triangle is clipped
    double depth, weight;
  };
  /// A projected point with its attributes; normals are in camera axes.
  struct Vertex {
    Vec3 place;
    Corner corner;
    Attributes attributes;
  };
  /// Draws one triangle after another, as `draw` does, between calls of `begin`.
  void begin(const Material& material, bool lit, bool mapped);
  [[nodiscard]] Vertex vertex(const Vec3& place, const Vec3& normal, double value) const noexcept {
    return {place, corner_at(camera_.see(place)), {lit_ ? camera_.turn(normal) : Vec3{0, 0, 0}, value}};
  }
  void draw(const Vertex& a, const Vertex& b, const Vertex& c);

 private:
  struct SampleBox {  ///< columns left..right and rows top..bottom, both ends included
    std::int64_t left, right, top, bottom;
    [[nodiscard]] bool empty() const noexcept { return left > right || top > bottom; }
  };
  [[nodiscard]] Corner corner_at(const Seen& seen) const noexcept;
  /// Rearranges the corners into the canonical order; returns twice the area in units of (1/256 sample)^2, perhaps 0.
  static std::int64_t arrange(std::array<const Corner*, 3>& corners, std::array<const Attributes*, 3>& attributes);
  void fill(std::array<const Corner*, 3> corners, std::array<const Attributes*, 3> attributes, const SampleBox& box);
  [[nodiscard]] SampleBox box_of(const Corner& a, const Corner& b, const Corner& c) const noexcept;
  void draw_clipped(const std::array<const Vertex*, 3>& three);
  void draw_near(const Vertex& a, const Vertex& b, const Vertex& c);
  [[nodiscard]] std::uint32_t colour_at(const Attributes& attributes, std::int64_t x, std::int64_t y) const noexcept;

  const Camera& camera_;
  Framebuffer& target_;
  SparseRows<Fragment>* fragments_ = nullptr;
  HiddenSquares hidden_;
  Lights lights_;
  Material material_;
  bool lit_ = false, mapped_ = false, later_ = false, through_ = false;
  std::vector<Vertex> vertices_;  ///< kept between calls to save the allocation
};

/// Deferred shading: the colours of materials that are lit later, by layer.
class Shades {
 public:
  void set(std::uint8_t layer, Colour colour) { colours_[layer] = colour; }
  /// Computes the colours of the samples of these layers, once. The camera must be the one of the drawing.
  void apply(const Camera& camera, Framebuffer& framebuffer) const;

 private:
  std::array<std::optional<Colour>, 256> colours_{};
};

// Lighting of surfaces without normals.

/// The triangles of a piece with separate points, which have the normal of their triangle; degenerate ones are left
/// out. Lines are not copied.
[[nodiscard]] Piece facets(const Piece& piece);

}  // namespace sidestream::rendering
