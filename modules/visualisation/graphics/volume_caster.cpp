// Ray casting through boxes of cells.
//
// 1. Boxes are cut into bricks of 16 x 16 x 16 cells. Bricks whose values are all clear are left out (add).
// 2. The picture is cut into tiles. For each tile, all rays are cast through each brick that it may show (Tile).
// 3. A ray walks from cell to cell (Amanatides and Woo, "A fast voxel traversal algorithm for ray tracing", 1987). The
//    distance at which it meets a face is computed from the face's position, not added up. Where it enters and leaves a
//    cell, the number is bilinear between the corners of the face that it crosses (BrickWalk).
// 4. The path through a cell is integrated with the transfer function's table, and its light is added to the slab of
//    its middle. A path that is longer than a slab is cut at the borders of slabs (Tile::emit).
#include "visualisation/graphics/volume_caster.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sidestream::rendering {
namespace {

constexpr Index brick_width = 16;

float mix(float a, float b, float t) noexcept { return (1 - t) * a + t * b; }

/// Where a line of sight crosses faces of a brick's cells: from crossing n to n + 1 it is in one cell. `numbers` are
/// those at the crossings, or, with numbers in cells, of the cell behind each.
struct Crossings {
  static constexpr int most = 3 * brick_width + 2;
  std::array<double, most> distances;
  std::array<float, most> numbers;
  int count = 0;
  void add(double distance, float number) noexcept {
    distances[static_cast<std::size_t>(count)] = distance;
    numbers[static_cast<std::size_t>(count++)] = number;
  }
};

/// The way of one line of sight through a box of cells.
template <class Volume>
class BrickWalk {
 public:
  BrickWalk(const SightLine& line, const Volume& volume, const Box& cells)
      : line_(line), cells_(cells), numbers_(volume.box.numbers.data()), in_cells_(volume.box.in_cells) {
    for (std::size_t a = 0; a < 3; ++a) {
      faces_[a] = volume.box.faces[a].data();
      inverse_[a] = volume.inverse[a].data();
      stride_[a] = volume.stride[a];
    }
  }

  /// Adds the crossings in order; none if the line misses the box.
  void walk(Crossings& crossings) {
    double leaves = std::numeric_limits<double>::infinity();
    double enters = line_.begin;
    for (std::size_t a = 0; a < 3; ++a) {
      const double low = face(a, cells_.lo[a]), high = face(a, cells_.hi[a]);
      const bool up = line_.direction[a] > 0;
      up_[a] = up ? 1 : 0;
      enters = std::max(enters, up ? low : high);
      leaves = std::min(leaves, up ? high : low);
    }
    if (!(enters < leaves)) return;
    for (std::size_t a = 0; a < 3; ++a) begin(a, enters);
    crossings.add(enters, in_cells_ ? cell_number() : entry_number(enters));
    for (;;) {
      const std::size_t axis = next_[0] <= next_[1] ? (next_[0] <= next_[2] ? 0 : 2) : (next_[1] <= next_[2] ? 1 : 2);
      const double distance = next_[axis];
      const float crossed = in_cells_ ? 0 : face_number(axis, cell_[axis] + up_[axis], distance);
      cell_[axis] += 2 * up_[axis] - 1;
      const bool within = cell_[axis] >= cells_.lo[axis] && cell_[axis] < cells_.hi[axis];
      crossings.add(distance, in_cells_ && within ? cell_number() : crossed);
      if (!within) return;
      next_[axis] = face(axis, cell_[axis] + up_[axis]);
    }
  }

 private:
  [[nodiscard]] double face(std::size_t axis, Index index) const noexcept {
    return line_.meets(axis, faces_[axis][index]);
  }
  /// Finds the cell on an axis that the line is in at `enters`, and where it leaves it.
  void begin(std::size_t axis, double enters) {
    const double* faces = faces_[axis];
    const double place = line_.origin[axis] + enters * line_.direction[axis];
    Index cell = cells_.lo[axis];
    while (cell + 1 < cells_.hi[axis] && faces[cell + 1] <= place) ++cell;
    // The distances decide, as they do for every later cell.
    if (up_[axis] != 0) {
      while (cell > cells_.lo[axis] && face(axis, cell) > enters) --cell;
      while (cell + 1 < cells_.hi[axis] && face(axis, cell + 1) <= enters) ++cell;
    } else {
      while (cell + 1 < cells_.hi[axis] && face(axis, cell + 1) > enters) ++cell;
      while (cell > cells_.lo[axis] && face(axis, cell) <= enters) --cell;
    }
    cell_[axis] = cell;
    next_[axis] = face(axis, cell + up_[axis]);
  }

  /// Offset of the line in the cell at a distance, 0 to 1.
  [[nodiscard]] float fraction(std::size_t axis, double distance) const noexcept {
    const Index n = cell_[axis];
    const double place = line_.origin[axis] + distance * line_.direction[axis];
    const double part = (place - faces_[axis][n]) * inverse_[axis][n];
    return static_cast<float>(std::min(std::max(part, 0.0), 1.0));
  }
  [[nodiscard]] std::int64_t offset() const noexcept {
    return cell_[0] + cell_[1] * stride_[1] + cell_[2] * stride_[2];
  }
  [[nodiscard]] float cell_number() const noexcept { return numbers_[offset()]; }

  /// The number where the line crosses a face of its cell. Both cells of the face compute the same bits.
  [[nodiscard]] float face_number(std::size_t axis, Index index, double distance) const noexcept {
    constexpr std::array<std::size_t, 3> first{1, 0, 0}, second{2, 2, 1};  // the other axes
    const std::size_t b = first[axis], c = second[axis];
    const float* corner = numbers_ + offset() + (index - cell_[axis]) * stride_[axis];
    const std::int64_t sb = stride_[b], sc = stride_[c];
    const float tb = fraction(b, distance);
    return mix(mix(corner[0], corner[sb], tb), mix(corner[sc], corner[sb + sc], tb), fraction(c, distance));
  }

  /// The number where the line enters its first cell. Of faces that it crosses at once, the one of the last axis
  /// counts, since the walk crosses them in the order of axes. A line that begins within a cell crosses none.
  [[nodiscard]] float entry_number(double enters) const noexcept {
    for (std::size_t a = 3; a-- > 0;) {
      const Index index = cell_[a] + 1 - up_[a];
      if (face(a, index) == enters) return face_number(a, index, enters);
    }
    const std::int64_t row = stride_[1];
    const float* corner = numbers_ + offset();
    const float tx = fraction(0, enters), ty = fraction(1, enters), tz = fraction(2, enters);
    const auto layer = [&](const float* p) { return mix(mix(p[0], p[1], tx), mix(p[row], p[row + 1], tx), ty); };
    return mix(layer(corner), layer(corner + stride_[2]), tz);
  }

  const SightLine line_;
  const Box cells_;
  const float* numbers_;
  bool in_cells_;
  std::array<const double*, 3> faces_, inverse_;
  std::array<std::int64_t, 3> stride_;
  std::array<Index, 3> up_{};  ///< 1 where the line runs upwards, otherwise 0
  Index3 cell_{};
  std::array<double, 3> next_{};  ///< distance to the face where the line leaves its cell, by axis
};

/// Turns an axis round along which the faces descend.
void make_ascending(VolumeBox& box, std::size_t axis) {
  std::vector<double>& faces = box.faces[axis];
  if (faces.front() < faces.back()) return;
  std::reverse(faces.begin(), faces.end());
  std::array<std::size_t, 3> extent{};
  for (std::size_t a = 0; a < 3; ++a) extent[a] = box.faces[a].size() - (box.in_cells ? 1 : 0);
  std::size_t below = 1;
  for (std::size_t a = 0; a < axis; ++a) below *= extent[a];
  const std::size_t layers = extent[axis];
  for (std::size_t outer = 0; outer < box.numbers.size(); outer += below * layers) {
    for (std::size_t n = 0; n < layers / 2; ++n) {
      const auto one = box.numbers.begin() + static_cast<std::ptrdiff_t>(outer + n * below);
      const auto other = box.numbers.begin() + static_cast<std::ptrdiff_t>(outer + (layers - 1 - n) * below);
      std::swap_ranges(one, one + static_cast<std::ptrdiff_t>(below), other);
    }
  }
}

}  // namespace

void VolumeCaster::add(VolumeBox box, const TransferFunction& function) {
  Volume volume{std::move(box), {}, {}, &function};
  std::int64_t stride = 1;
  Box cells{};
  for (std::size_t a = 0; a < 3; ++a) {
    make_ascending(volume.box, a);
    const std::vector<double>& faces = volume.box.faces[a];
    for (std::size_t n = 0; n + 1 < faces.size(); ++n) volume.inverse[a].push_back(1 / (faces[n + 1] - faces[n]));
    volume.stride[a] = stride;
    stride *= static_cast<std::int64_t>(faces.size()) - (volume.box.in_cells ? 1 : 0);
    cells.hi[a] = static_cast<Index>(faces.size()) - 1;
  }
  volumes_.push_back(std::move(volume));
  const std::size_t bricks = bricks_.size();
  for (Index k = 0; k < cells.hi[2]; k += brick_width) {
    for (Index j = 0; j < cells.hi[1]; j += brick_width) {
      for (Index i = 0; i < cells.hi[0]; i += brick_width) {
        keep_brick(volumes_.size() - 1,
                   intersection(cells, {{i, j, k}, {i + brick_width, j + brick_width, k + brick_width}}));
      }
    }
  }
  if (bricks_.size() == bricks) volumes_.pop_back();
}

bool VolumeCaster::is_clear(const Volume& volume, const Box& cells) const {
  const Index more = volume.box.in_cells ? 0 : 1;
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (Index k = cells.lo[2]; k < cells.hi[2] + more; ++k) {
    for (Index j = cells.lo[1]; j < cells.hi[1] + more; ++j) {
      const float* row = volume.box.numbers.data() + k * volume.stride[2] + j * volume.stride[1];
      for (Index i = cells.lo[0]; i < cells.hi[0] + more; ++i) {
        low = row[i] < low ? row[i] : low;
        high = row[i] > high ? row[i] : high;
      }
    }
  }
  return low > high || volume.function->is_clear(low, high);
}

/// Keeps a brick that is not clear, with the pixels between the projections of its corners.
void VolumeCaster::keep_brick(std::size_t number, const Box& cells) {
  const Volume& volume = volumes_[number];
  if (is_clear(volume, cells)) return;
  std::array<Vec3, 8> corners{};
  for (std::size_t c = 0; c < 8; ++c) {
    for (std::size_t a = 0; a < 3; ++a) {
      corners[c][a] = volume.box.faces[a][static_cast<std::size_t>((c >> a & 1) != 0 ? cells.hi[a] : cells.lo[a])];
    }
  }
  const PixelBox pixels = pixels_between(camera_, corners, width_, height_, samples_);
  if (pixels.left <= pixels.right && pixels.top <= pixels.bottom) bricks_.push_back({number, cells, pixels});
}

/// Casts the rays of a tile.
class VolumeCaster::Tile {
 public:
  explicit Tile(const VolumeCaster& caster) : caster_(caster), light_(caster.slabs_) {}

  [[nodiscard]] LightTile& light() noexcept { return light_; }

  void cast(const Brick& brick) {
    const Volume& volume = caster_.volumes_[brick.volume];
    light_.for_each(brick.pixels, [&](const SightLine& line, SlabLight* slabs) {
      crossings_.count = 0;
      BrickWalk<Volume>(line, volume, brick.cells).walk(crossings_);
      if (crossings_.count > 1) emit(volume, line.length, slabs);
    });
  }

 private:
  /// Adds the light between the crossings to a pixel's slabs.
  void emit(const Volume& volume, double length, SlabLight* slabs) const {
    const TransferFunction& function = *volume.function;
    const bool in_cells = volume.box.in_cells;
    const double thickness = caster_.slabs_.thickness();
    float number = crossings_.numbers[0];
    Light before = std::isnan(number) ? Light{} : function.integral(number);
    for (std::size_t n = 1; n < static_cast<std::size_t>(crossings_.count); ++n) {
      const float next = crossings_.numbers[n];
      const Light after = std::isnan(next) ? Light{} : function.integral(next);
      const double from = crossings_.distances[n - 1], to = crossings_.distances[n];
      const float end = in_cells ? number : next;
      const bool clear = !in_cells && before.extinction == after.extinction && number != next;
      if (to > from && !clear && !std::isnan(number) && !std::isnan(end)) {
        const Light& until = in_cells ? before : after;
        if (to - from > thickness) {
          light_.put_long({from, to, number, end}, function, length, slabs);
        } else {
          light_.put(from, to, function.mean(number, before, end, until), length, slabs);
        }
      }
      number = next;
      before = after;
    }
  }
  const VolumeCaster& caster_;
  LightTile light_;
  Crossings crossings_;  ///< of one ray and brick
};

void VolumeCaster::cast(SparseRows<SlabRecord>& rows) const {
  Tile tile(*this);
  std::vector<const Brick*> in_row;
  for (std::int64_t top = 0; top < height_; top += tile_width) {
    in_row.clear();
    for (const Brick& brick : bricks_) {
      if (brick.pixels.bottom >= top && brick.pixels.top < top + tile_width) in_row.push_back(&brick);
    }
    for (std::int64_t left = 0; left < width_ && !in_row.empty(); left += tile_width) {
      bool any = false;
      for (const Brick* brick : in_row) {
        if (brick->pixels.right < left || brick->pixels.left >= left + tile_width) continue;
        if (!any) tile.light().begin(camera_, samples_, left, top);
        any = true;
        tile.cast(*brick);
      }
      if (any) tile.light().take(width_, height_, rows);
    }
  }
}

}  // namespace sidestream::rendering
