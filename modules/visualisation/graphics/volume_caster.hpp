// Casts rays through volumes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sidestream/data/box.hpp"
#include "visualisation/graphics/camera.hpp"
#include "visualisation/graphics/drawing.hpp"
#include "visualisation/graphics/light_tile.hpp"
#include "visualisation/graphics/transfer_function.hpp"

namespace sidestream::rendering {

/// A box of cells with values.
struct VolumeBox {
  /// Positions of the faces between cells, along each axis: one more than cells, all ascending or all descending.
  std::array<std::vector<double>, 3> faces;
  /// Positions in the table of the transfer function, x fastest: at the corners of cells, between which they are linear
  /// along each axis, or in cells. Where one is NaN, nothing is seen.
  std::vector<float> numbers;
  bool in_cells = false;
};

/// Rays through the middle of each pixel. A ray's path through a cell ends where it crosses the cell's faces. These
/// crossings, and the numbers there, depend only on the ray and the face, so the light of a cell is the same bits
/// whatever box the cell comes in; and light adds up in any order (light_tile.hpp).
class VolumeCaster {
 public:
  /// A picture of width x height pixels with `samples` along each axis of a pixel. The camera's viewport is in samples.
  /// Keeps a reference to the camera.
  VolumeCaster(const Camera& camera, std::int64_t width, std::int64_t height, int samples, const DepthSlabs& slabs)
      : camera_(camera), width_(width), height_(height), samples_(samples), slabs_(slabs) {}

  /// Takes a box with its transfer function, which must outlive this. Parts in which all is clear are left out.
  void add(VolumeBox box, const TransferFunction& function);

  /// Casts all rays, and adds their light to the rows of a picture.
  void cast(SparseRows<SlabRecord>& rows) const;

 private:
  /// A box whose faces ascend, with values that are computed once.
  struct Volume {
    VolumeBox box;
    std::array<std::vector<double>, 3> inverse;  ///< of the cells' widths
    std::array<std::int64_t, 3> stride;          ///< in numbers
    const TransferFunction* function;
  };
  /// Cells of a volume, in which something is seen, and the pixels that may show it.
  struct Brick {
    std::size_t volume;
    Box cells;
    PixelBox pixels;
  };
  class Tile;

  void keep_brick(std::size_t volume, const Box& cells);
  [[nodiscard]] bool is_clear(const Volume& volume, const Box& cells) const;

  const Camera& camera_;
  std::int64_t width_, height_;
  int samples_;
  DepthSlabs slabs_;
  std::vector<Volume> volumes_;
  std::vector<Brick> bricks_;
};

}  // namespace sidestream::rendering
