// Flying edges, after Schroeder, Maynard and Geveci (2015); see flying_edges.hpp.
//
// Pass 1 (scan) classifies every point and stores one bit, inside or outside. If some numbers are not finite, a second
// set of bits marks the cells whose corners are all finite. Crossed edges and active cells then follow from shifts and
// exclusive ors of 64-bit words. Counting their bits, and the triangles of their cases, gives the size of the output.
//
// Pass 2 walks over the planes and rows of points. point_row numbers the vertices on the edges that start in a row,
// computes their positions and normals, and hands them on. triangle_row then handles the row of cells whose corners are
// complete: the inside bits of each active cell index the case table, and the vertices are found from the numbers of
// the cell's four rows of points. No search or hash table is needed.
#include "visualisation/contour/flying_edges.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "visualisation/contour/class_bits.hpp"
#include "visualisation/contour/crossed_edge.hpp"
#include "visualisation/contour/curvilinear_vertices.hpp"
#include "visualisation/contour/marching_cubes_cell.hpp"
#include "visualisation/contour/row_normals.hpp"

namespace sidestream {
namespace {

/// Traces one value through one box of cells.
template <class T>
class Flight {
 public:
  Flight(const ContourRequest& request, const Box& cells, double value, ContourRows& rows)
      : request_(request),
        cells_(cells),
        points_{cells.lo, {cells.hi[0] + 1, cells.hi[1] + 1, cells.hi[2] + 1}},
        reach_(request.normals ? intersection(grown(points_, 1), request.grid.points()) : points_),
        value_(value),
        least_(threshold<T>(value)),
        reverse_(request.reverse != mirrored(request.grid)),
        rows_(rows),
        numbers_(*request.view, request.component, reach_),
        inside_(points_) {}

  void run() {
    const bool finite = scan();
    if (!some_inside_ || !some_outside_) return;
    if (!finite) find_valid();
    std::size_t points = 0, triangles = 0;
    for (Index k = points_.lo[2]; k < points_.hi[2]; ++k) points += points_in(k);
    for (Index k = cells_.lo[2]; k < cells_.hi[2]; ++k) triangles += triangles_in(k);
    if (triangles == 0) return;
    rows_.expect(points, triangles);
    prepare();
    for (Index k = points_.lo[2]; k < points_.hi[2]; ++k) {
      load(k);
      for (Index j = points_.lo[1]; j < points_.hi[1]; ++j) {
        if (curved_) announce(j + 1, k);
        point_row(j, k);
        if (k > points_.lo[2] && j > points_.lo[1]) triangle_row(j - 1, k - 1);
      }
      rows_.end_plane(k);
    }
  }

 private:
  struct Words {
    Word x, y, z;
    [[nodiscard]] Word any() const noexcept { return x | y | z; }
  };

  /// Classifies the points; returns true if all numbers are finite.
  bool scan() {
    bool finite = true;
    const Index n = points_.extent(0), words = inside_.words();
    for (Index k = points_.lo[2]; k < points_.hi[2]; ++k) {
      numbers_.load(k);
      for (Index j = points_.lo[1]; j < points_.hi[1]; ++j) {
        Word* bits = inside_.row(j, k);
        finite = classify(row(j, k), n, least_, bits) && finite;
        for (Index w = 0; w < words; ++w) {
          some_inside_ = some_inside_ || bits[w] != 0;
          some_outside_ = some_outside_ || bits[w] != mask_of(n, w);
        }
      }
    }
    return finite;
  }

  /// Marks the cells whose corners are all finite.
  void find_valid() {
    BitRows finite(points_);
    for (Index k = points_.lo[2]; k < points_.hi[2]; ++k) {
      numbers_.load(k);
      for (Index j = points_.lo[1]; j < points_.hi[1]; ++j) {
        const T* from = row(j, k);
        Word* to = finite.row(j, k);
        for (Index i = 0; i < points_.extent(0); ++i) {
          to[i / word_bits] |= static_cast<Word>(std::isfinite(from[i])) << i % word_bits;
        }
      }
    }
    valid_.emplace(points_);
    for (Index k = cells_.lo[2]; k < cells_.hi[2]; ++k) {
      for (Index j = cells_.lo[1]; j < cells_.hi[1]; ++j) {
        for (Index w = 0; w < finite.words(); ++w) {
          Word all = mask_of(cells_.extent(0), w);
          for (int n = 0; n < 4; ++n) {
            const Word* corner = finite.row(j + (n & 1), k + (n >> 1));
            all &= corner[w] & next_bits(corner, w);
          }
          valid_->row(j, k)[w] = all;
        }
      }
    }
  }

  /// The bits of the valid cells of a row, or null beyond the box.
  [[nodiscard]] const Word* valid_row(Index j, Index k) const noexcept {
    return j >= cells_.lo[1] && j < cells_.hi[1] && k >= cells_.lo[2] && k < cells_.hi[2] ? valid_->row(j, k) : nullptr;
  }

  /// The edges that start at the points of word w of a row, cross the value and belong to a valid cell.
  [[nodiscard]] Words crossed(Index j, Index k, Index w) const noexcept {
    const Word* here = inside_.row(j, k);
    Words words{(here[w] ^ next_bits(here, w)) & mask_of(cells_.extent(0), w), 0, 0};
    if (j + 1 < points_.hi[1]) words.y = here[w] ^ inside_.row(j + 1, k)[w];
    if (k + 1 < points_.hi[2]) words.z = here[w] ^ inside_.row(j, k + 1)[w];
    if (valid_ && words.any() != 0) restrict(j, k, w, words);
    return words;
  }

  void restrict(Index j, Index k, Index w, Words& words) const noexcept {
    Word x = 0, y = 0, z = 0;
    for (int n = 0; n < 4; ++n) {
      const Index dj = n & 1, dk = n >> 1;
      const Word* cells = valid_row(j - dj, k - dk);
      if (cells == nullptr) continue;
      const Word near = cells[w] | bits_before(cells, w);
      x |= cells[w];
      if (dj == 0) y |= near;
      if (dk == 0) z |= near;
    }
    words.x &= x;
    words.y &= y;
    words.z &= z;
  }

  /// The valid cells of word w of a row.
  [[nodiscard]] CellWords cells_in(Index j, Index k, Index w) const noexcept {
    CellWords words;
    Word any = 0, all = ~Word{0};
    for (int r = 0; r < 4; ++r) {
      const Word* corner = inside_.row(j + (r & 1), k + (r >> 1));
      words.low[r] = corner[w];
      words.high[r] = next_bits(corner, w);
      any |= words.low[r] | words.high[r];
      all &= words.low[r] & words.high[r];
    }
    words.active = any & ~all & mask_of(cells_.extent(0), w);
    if (valid_) words.active &= valid_->row(j, k)[w];
    return words;
  }

  [[nodiscard]] std::size_t points_in(Index k) const noexcept {
    int count = 0;
    for (Index j = points_.lo[1]; j < points_.hi[1]; ++j) {
      for (Index w = 0; w < inside_.words(); ++w) {
        const Words words = crossed(j, k, w);
        count += std::popcount(words.x) + std::popcount(words.y) + std::popcount(words.z);
      }
    }
    return static_cast<std::size_t>(count);
  }

  [[nodiscard]] std::size_t triangles_in(Index k) const noexcept {
    std::size_t count = 0;
    for (Index j = cells_.lo[1]; j < cells_.hi[1]; ++j) {
      for (Index w = 0; w < inside_.words(); ++w) {
        cells_in(j, k, w).each([&](int, unsigned inside) { count += case_table.cases[inside].count; });
      }
    }
    return count;
  }

  [[nodiscard]] const T* row(Index j, Index k) const noexcept {
    return numbers_.row(j, k) + (points_.lo[0] - reach_.lo[0]);
  }

  void prepare() {
    const auto n = static_cast<std::size_t>(points_.extent(0));
    for (int side = 0; side < 2; ++side) {
      numbered_[side].resize(n * static_cast<std::size_t>(points_.extent(1)));
    }
    at_.resize(3 * n + 2);
    axis_.resize(3 * n + 2);
    lower_.resize(3 * n + 2);
    upper_.resize(3 * n + 2);
    t_.resize(3 * n);
    places_.resize(3 * n);
    for (Index i = points_.lo[0]; i < points_.hi[0] && !request_.grid.curved(); ++i) {
      along_.push_back(request_.grid.position(0, i));
    }
    if (request_.normals) normals_.resize(3 * n);
    if (request_.curved != nullptr) {
      curved_ = curved_flight<T>(*request_.curved, reach_, request_.normals);
      mirrored_.resize(n);
    } else if (request_.normals) {
      slopes_.emplace(request_.grid, reach_);
    }
    active_.resize(n);
    begins_.resize(n + 1);
    cell_at_.resize(5 * n);
    corners_.resize(5 * n);
  }

  /// Loads the numbers that the points of plane k and the cells below it need.
  void load(Index k) { numbers_.load(std::min(k + (request_.normals ? 2 : 1), reach_.hi[2] - 1)); }

  /// Prefetches the positions of points that a row of cells will need.
  void announce(Index j, Index k) {
    if (j >= cells_.hi[1] || k >= cells_.hi[2]) return;
    std::size_t count = 0;
    for (Index w = 0; w < inside_.words(); ++w) {
      for (Word left = cells_in(j, k, w).active; left != 0; left &= left - 1) {
        active_[count++] = static_cast<std::int32_t>(w * word_bits + std::countr_zero(left));
      }
    }
    curved_->announce({cells_.lo[0], j, k}, {active_.data(), count});
  }

  void point_row(Index j, Index k) {
    Numbered* numbered = numbered_[k & 1].data() + (j - points_.lo[1]) * points_.extent(0);
    const T* here = row(j, k);
    const T* over_j = j + 1 < points_.hi[1] ? row(j + 1, k) : here;
    const T* over_k = k + 1 < points_.hi[2] ? row(j, k + 1) : here;
    const Index last = points_.extent(0) - 1;
    std::size_t count = 0;
    // Branches on crossed edges are hard to predict: each edge is written, and kept only if it is crossed.
    const auto write = [&](Index i, std::uint8_t axis, T upper, unsigned crossed) {
      at_[count] = static_cast<std::int32_t>(i);
      axis_[count] = axis;
      lower_[count] = static_cast<double>(here[i]);
      upper_[count] = static_cast<double>(upper);
      count += crossed;
    };
    for (Index w = 0; w < inside_.words(); ++w) {
      const Words words = crossed(j, k, w);
      for (Word left = words.any(); left != 0; left &= left - 1) {
        const int bit = std::countr_zero(left);
        const Index i = w * word_bits + bit;
        const auto x = static_cast<unsigned>(words.x >> bit & 1), y = static_cast<unsigned>(words.y >> bit & 1),
                   z = static_cast<unsigned>(words.z >> bit & 1);
        numbered[i] = {made_ + static_cast<std::int32_t>(count), static_cast<std::uint8_t>(x),
                       static_cast<std::uint8_t>(x + y)};
        write(i, 0, here[std::min(i + 1, last)], x);
        write(i, 1, over_j[i], y);
        write(i, 2, over_k[i], z);
      }
    }
    if (count == 0) return;
    made_ += static_cast<std::int32_t>(count);
    find_crossings(count);
    give_points(j, k, count);
  }

  void find_crossings(std::size_t count) {
    double poison = 0;  // stays 0 while all differences are finite
    for (std::size_t n = 0; n < count; ++n) {
      const double whole = upper_[n] - lower_[n];
      poison += whole * 0;
      t_[n] = (value_ - lower_[n]) / whole;
    }
    if (poison == 0) return;
    for (std::size_t n = 0; n < count; ++n) t_[n] = crossing(lower_[n], upper_[n], value_);
  }

  void give_points(Index j, Index k, std::size_t count) {
    PointRow row{{points_.lo[0], j, k}, {at_.data(), count}, {axis_.data(), count}, {t_.data(), count}, {}, {}};
    if (!curved_) {
      place(row);
    } else if (!curved_->place(row, places_.data())) {
      note_unplaced(count);
    }
    row.places = {places_.data(), count};
    if (request_.normals) {
      if (curved_) {
        curved_->normals(numbers_, row, normals_.data());
      } else {
        slopes_->normals(numbers_, row, normals_.data());
      }
      row.normals = {normals_.data(), count};
    }
    rows_.take(row);
  }

  void place(const PointRow& row) {
    const std::array<double, 3> start = request_.grid.position(row.first);
    double ends[3][2] = {};  // ends of edges along j and k
    for (int a = 1; a < 3; ++a) {
      ends[a][0] = start[static_cast<std::size_t>(a)];
      ends[a][1] = request_.grid.position(a, std::min(row.first[a] + 1, points_.hi[a] - 1));
    }
    for (std::size_t n = 0; n < row.at.size(); ++n) {
      const double* along = along_.data() + row.at[n];
      const auto axis = std::size_t{row.axis[n]};
      const double* edge = axis == 0 ? along : ends[axis];
      places_[n] = {*along, start[1], start[2]};
      places_[n][axis] = mix(edge[0], edge[1], row.t[n]);
    }
  }

  void note_unplaced(std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) {
      const auto& [x, y, z] = places_[n];
      if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z))
        unplaced_.push_back(made_ - static_cast<std::int32_t>(count - n));
    }
  }

  void triangle_row(Index j, Index k) {
    const Numbered* rows[4];
    for (int r = 0; r < 4; ++r) {
      rows[r] = numbered_[(k + (r >> 1)) & 1].data() + (j + (r & 1) - points_.lo[1]) * points_.extent(0);
    }
    std::size_t count = 0, active = 0;
    for (Index w = 0; w < inside_.words(); ++w) {
      cells_in(j, k, w).each([&](int bit, unsigned inside) {
        const Index i = w * word_bits + bit;
        active_[active] = static_cast<std::int32_t>(i);
        begins_[active++] = static_cast<std::int32_t>(count);
        const CellCase& what = case_table.cases[inside];
        const std::array<std::int32_t, 12> vertices = vertices_of(rows, i);
        const auto write = [&](std::size_t n) {
          const auto& [a, b, c] = what.triangles[n];
          corners_[count + n] = {vertices[a], vertices[b], vertices[c]};
          cell_at_[count + n] = static_cast<std::int32_t>(i);
        };
        // Mostly there are one or two, which is hard to predict; superfluous ones are overwritten.
        write(0), write(1);
        if (what.count > 2) write(2), write(3), write(4);
        count += what.count;
      });
    }
    if (count == 0) return;
    begins_[active] = static_cast<std::int32_t>(count);
    if (curved_) turn_mirrored({cells_.lo[0], j, k}, active);
    if (!unplaced_.empty()) count = leave_unplaced(count);
    for (std::size_t n = 0; n < count && reverse_; ++n) std::swap(corners_[n][1], corners_[n][2]);
    rows_.take(TriangleRow{{cells_.lo[0], j, k}, {cell_at_.data(), count}, {corners_.data(), count}});
  }

  [[nodiscard]] bool is_placed(const RowTriangle& triangle) const {
    return std::none_of(triangle.begin(), triangle.end(), [&](std::int32_t point) {
      return std::binary_search(unplaced_.begin(), unplaced_.end(), point);
    });
  }

  /// Reverses triangles in cells whose axes are left-handed.
  void turn_mirrored(const Index3& first, std::size_t active) {
    if (!curved_->mirrored(first, {active_.data(), active}, mirrored_.data())) return;
    for (std::size_t cell = 0; cell < active; ++cell) {
      for (std::int32_t n = begins_[cell]; n < begins_[cell + 1] && mirrored_[cell] != 0; ++n) {
        RowTriangle& triangle = corners_[static_cast<std::size_t>(n)];
        std::swap(triangle[1], triangle[2]);
      }
    }
  }

  /// Drops triangles with a vertex that has no position.
  std::size_t leave_unplaced(std::size_t count) {
    std::size_t kept = 0;
    for (std::size_t n = 0; n < count; ++n) {
      if (!is_placed(corners_[n])) continue;
      cell_at_[kept] = cell_at_[n];
      corners_[kept++] = corners_[n];
    }
    return kept;
  }

  const ContourRequest& request_;
  const Box cells_, points_;
  const Box reach_;  ///< the points whose numbers are read
  const double value_;
  const T least_;
  const bool reverse_;
  ContourRows& rows_;
  NumberPlanes<T> numbers_;
  BitRows inside_;
  std::optional<BitRows> valid_;  ///< valid cells, if not all are
  bool some_inside_ = false, some_outside_ = false;
  std::int32_t made_ = 0;              ///< points so far
  std::vector<Numbered> numbered_[2];  ///< vertices of the points of the last two planes
  std::optional<RowNormals> slopes_;
  std::unique_ptr<CurvedFlight<T>> curved_;
  std::vector<double> along_;           ///< positions on the first axis, if the grid has axes
  std::vector<std::int32_t> unplaced_;  ///< vertices without a position, ascending
  // Buffers for one row.
  std::vector<std::int32_t> at_, cell_at_;
  std::vector<std::int32_t> active_, begins_;  ///< cells with triangles, and the first triangle of each
  std::vector<std::uint8_t> axis_, mirrored_;
  std::vector<double> lower_, upper_, t_;
  std::vector<std::array<double, 3>> places_, normals_;
  std::vector<RowTriangle> corners_;
};

}  // namespace

void fly_edges(const ContourRequest& request, const Box& cells, double value, ContourRows& rows) {
  if (request.view->array.type == Type::float32) {
    Flight<float>(request, cells, value, rows).run();
  } else {
    Flight<double>(request, cells, value, rows).run();
  }
}

std::vector<Box> cut_for_flying(const Box& cells) {
  constexpr Index most = (Index{1} << 31) / 5;  // at most five triangles per cell, three vertices per point
  if (cells.count() < most) return {cells};
  Box lower = cells, upper = cells;
  const int axis = cells.extent(2) > 1 ? 2 : cells.extent(1) > 1 ? 1 : 0;
  lower.hi[axis] = upper.lo[axis] = cells.lo[axis] + cells.extent(axis) / 2;
  std::vector<Box> boxes = cut_for_flying(lower);
  for (const Box& box : cut_for_flying(upper)) boxes.push_back(box);
  return boxes;
}

}  // namespace sidestream
