// Casts rays through cells of any shape.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "visualisation/graphics/light_tile.hpp"

namespace sidestream::rendering {

/// A cell between flat triangles.
struct VolumeCell {
  std::vector<Vec3> corners;
  /// Positions in the table of the transfer function, one for each corner: linear on triangles, and between the places
  /// where a ray enters and leaves the cell. No NaN.
  std::vector<float> numbers;
  std::vector<std::array<std::size_t, 3>> triangles;  ///< a closed surface of corners, each side turned either way
};

/// Cells of one block.
class VolumeCells {
 public:
  virtual ~VolumeCells() = default;
  [[nodiscard]] virtual std::int64_t count() const = 0;
  /// Fills `cell`, whose memory is reused. False if nothing is seen in the cell; then `cell` is undefined.
  [[nodiscard]] virtual bool load(std::int64_t number, VolumeCell& cell) const = 0;
};

/// Rays through the middle of each pixel. The path through a cell depends on the ray and on that cell only, so its
/// light is the same bits whatever block it comes in; and light adds up in any order (light_tile.hpp). Cells that
/// share a triangle leave no gap, and do not overlap.
class CellCaster {
 public:
  /// See VolumeCaster.
  CellCaster(const Camera& camera, std::int64_t width, std::int64_t height, int samples, const DepthSlabs& slabs)
      : camera_(camera), width_(width), height_(height), samples_(samples), slabs_(slabs) {}

  /// Takes the cells of a block with their transfer function, which must outlive this.
  void add(std::unique_ptr<VolumeCells> cells, const TransferFunction& function);

  /// Casts all rays, and adds their light to the rows of a picture.
  void cast(SparseRows<SlabRecord>& rows) const;

 private:
  struct Volume {
    std::unique_ptr<VolumeCells> cells;
    const TransferFunction* function;
  };
  /// A cell in which something is seen, and the pixels that may show it, both ends included.
  struct Spot {
    std::int64_t cell;
    std::uint32_t volume;
    std::uint16_t left, right, top, bottom;
  };

  const Camera& camera_;
  std::int64_t width_, height_;
  int samples_;
  DepthSlabs slabs_;
  std::vector<Volume> volumes_;
  std::vector<Spot> spots_;
};

}  // namespace sidestream::rendering
