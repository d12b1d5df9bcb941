// Ray casting through cells between triangles.
//
// 1. The pixels that may show a cell are found once (add). The picture is cut into tiles, whose cells are cast one by
//    one, in any order.
// 2. The corners of a cell are sheared so that a ray becomes the third axis (CellRay::begin). The ray then crosses a
//    triangle if it passes all of its edges on the same side. An edge through which the ray passes exactly counts as if
//    the ray were shifted by almost nothing, along x and by even less along y. So both triangles of an edge agree, and
//    the ray crosses a closed surface an even number of times. After Woop, Benthin and Wald, "Watertight ray/triangle
//    intersection" (2013).
// 3. Crossings in the order of distance are entries and exits. The path between two is integrated with the transfer
//    function's table, and its light is added to the slab of its middle.
#include "visualisation/graphics/cell_caster.hpp"

#include <algorithm>

namespace sidestream::rendering {
namespace {

/// A place where a ray crosses the surface of a cell.
struct Crossing {
  double distance;
  float number;
};

/// A corner as a ray sees it: at a distance ahead, aside by x and y.
struct Sheared {
  double x, y, ahead;
};

/// Twice the area of the triangle of the ray and an edge.
double area(const Sheared& a, const Sheared& b) noexcept { return a.x * b.y - a.y * b.x; }

/// True if the ray passes an edge on its left.
bool is_left(double area, const Sheared& a, const Sheared& b) noexcept {
  if (area != 0) return area > 0;
  return a.x != b.x ? a.x < b.x : a.y < b.y;
}

/// One ray after another through one cell after another.
class CellRay {
 public:
  /// Takes the corners as the camera sees them.
  void begin_cell(const Camera& camera, const VolumeCell& cell) {
    cell_ = &cell;
    seen_.clear();
    for (const Vec3& corner : cell.corners) seen_.push_back(camera.see(corner));
    sheared_.resize(seen_.size());
    parallel_ = camera.parallel();
  }

  /// The crossings of a ray, in order.
  const std::vector<Crossing>& cross(const SightLine& line) {
    crossings_.clear();
    if (!begin(line.across)) return crossings_;
    for (const auto& [a, b, c] : cell_->triangles) cross(a, b, c);
    std::sort(crossings_.begin(), crossings_.end(),
              [](const Crossing& a, const Crossing& b) { return a.distance < b.distance; });
    return crossings_;
  }

 private:
  /// Shears the corners. False if all are on one side of the ray.
  bool begin(const Across& across) {
    bool left = false, right = false, below = false, above = false;
    for (std::size_t n = 0; n < seen_.size(); ++n) {
      const Seen& seen = seen_[n];
      const double by = parallel_ ? 1 : seen.ahead;
      sheared_[n] = {seen.right - across.right * by, seen.up - across.up * by, seen.ahead};
      left = left || sheared_[n].x <= 0;
      right = right || sheared_[n].x >= 0;
      below = below || sheared_[n].y <= 0;
      above = above || sheared_[n].y >= 0;
    }
    return left && right && below && above;
  }

  void cross(std::size_t first, std::size_t second, std::size_t third) {
    const Sheared &a = sheared_[first], &b = sheared_[second], &c = sheared_[third];
    const double of_c = area(a, b), of_a = area(b, c), of_b = area(c, a);
    const bool side = is_left(of_c, a, b);
    if (is_left(of_a, b, c) != side || is_left(of_b, c, a) != side) return;
    const double sum = of_a + of_b + of_c;
    if (sum == 0) return;
    const double inverse = 1 / sum, wa = of_a * inverse, wb = of_b * inverse, wc = of_c * inverse;
    const std::vector<float>& numbers = cell_->numbers;
    crossings_.push_back({wa * a.ahead + wb * b.ahead + wc * c.ahead,
                          static_cast<float>(wa * numbers[first] + wb * numbers[second] + wc * numbers[third])});
  }

  const VolumeCell* cell_ = nullptr;
  bool parallel_ = false;
  std::vector<Seen> seen_;
  std::vector<Sheared> sheared_;
  std::vector<Crossing> crossings_;
};

/// Adds the light between each entry and its exit.
void emit(const std::vector<Crossing>& crossings, const TransferFunction& function, const SightLine& line,
          double thickness, const LightTile& tile, SlabLight* slabs) {
  for (std::size_t n = 1; n < crossings.size(); n += 2) {
    Path path{crossings[n - 1].distance, crossings[n].distance, crossings[n - 1].number, crossings[n].number};
    if (!(path.from < path.to) || !(line.begin < path.to)) continue;
    if (path.from < line.begin) {
      const auto part = static_cast<float>((line.begin - path.from) / (path.to - path.from));
      path.first += part * (path.last - path.first);
      path.from = line.begin;
    }
    if (path.to - path.from > thickness) {
      tile.put_long(path, function, line.length, slabs);
    } else {
      const Light mean =
          function.mean(path.first, function.integral(path.first), path.last, function.integral(path.last));
      tile.put(path.from, path.to, mean, line.length, slabs);
    }
  }
}

}  // namespace

void CellCaster::add(std::unique_ptr<VolumeCells> cells, const TransferFunction& function) {
  const auto volume = static_cast<std::uint32_t>(volumes_.size());
  const std::size_t before = spots_.size();
  VolumeCell cell;
  for (std::int64_t n = 0; n < cells->count(); ++n) {
    if (!cells->load(n, cell)) continue;
    const auto [low, high] = std::minmax_element(cell.numbers.begin(), cell.numbers.end());
    if (low == cell.numbers.end() || function.is_clear(*low, *high)) continue;
    const PixelBox box = pixels_between(camera_, cell.corners, width_, height_, samples_);
    if (box.left > box.right || box.top > box.bottom) continue;
    const auto narrow = [](std::int64_t pixel) { return static_cast<std::uint16_t>(pixel); };
    spots_.push_back({n, volume, narrow(box.left), narrow(box.right), narrow(box.top), narrow(box.bottom)});
  }
  if (spots_.size() > before) volumes_.push_back({std::move(cells), &function});
}

void CellCaster::cast(SparseRows<SlabRecord>& rows) const {
  if (spots_.empty()) return;
  LightTile tile(slabs_);
  CellRay ray;
  VolumeCell cell;
  std::vector<const Spot*> in_row;
  for (std::int64_t top = 0; top < height_; top += tile_width) {
    in_row.clear();
    for (const Spot& spot : spots_) {
      if (spot.bottom >= top && spot.top < top + tile_width) in_row.push_back(&spot);
    }
    for (std::int64_t left = 0; left < width_ && !in_row.empty(); left += tile_width) {
      bool any = false;
      for (const Spot* spot : in_row) {
        if (spot->right < left || spot->left >= left + tile_width) continue;
        if (!any) tile.begin(camera_, samples_, left, top);
        any = true;
        const Volume& volume = volumes_[spot->volume];
        static_cast<void>(volume.cells->load(spot->cell, cell));
        ray.begin_cell(camera_, cell);
        tile.for_each({spot->left, spot->right, spot->top, spot->bottom}, [&](const SightLine& line, SlabLight* slabs) {
          emit(ray.cross(line), *volume.function, line, slabs_.thickness(), tile, slabs);
        });
      }
      if (any) tile.take(width_, height_, rows);
    }
  }
}

}  // namespace sidestream::rendering
