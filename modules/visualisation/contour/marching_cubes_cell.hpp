// Marching cubes in one box of cells, one layer of cells at a time.
//
// The 256 cases are computed instead of copied. Corner n of a cell lies at (n >> 2, n & 1, (n >> 1) & 1) from its
// lowest point. The four corners of the low i side are the low four bits of a case, those of the high i side the high
// four, so that walking along i reuses half of a case. A case has bit n set when corner n is inside.
//
// On each face the crossed edges are joined by segments. A face with two inside corners across from each other is
// ambiguous: the segments always cut off the inside corners. Since that depends only on the face, its two cells agree.
// The segments of a cell close to loops, and each loop is cut into triangles such that no diagonal lies in a face.
// Every edge between two vertices then has exactly two triangles, whatever the neighbours are.
//
// EdgeSlots has the vertex on each edge, for the two planes of points around a layer. PlaneBuffer has a few consecutive
// planes of numbers, and moves along k through a block.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sidestream/data/box.hpp"
#include "visualisation/contour/contour.hpp"
#include "visualisation/contour/crossed_edge.hpp"
#include "visualisation/mesh/field_source.hpp"

namespace sidestream {

/// An edge of a cell: its end of lower index, and the axis along which it runs.
struct CellEdge {
  std::uint8_t corner = 0;
  std::uint8_t axis = 0;
};

/// Offset of a corner from the cell's lowest point.
[[nodiscard]] constexpr std::array<int, 3> corner_offset(int corner) noexcept {
  return {corner >> 2, corner & 1, (corner >> 1) & 1};
}

/// The triangles of one case as numbers of edges; counter-clockwise seen from the outside corners.
struct CellCase {
  std::uint8_t count = 0;
  std::array<std::array<std::uint8_t, 3>, 5> triangles{};
};

struct CaseTable {
  std::array<CellEdge, 12> edges;
  std::array<CellCase, 256> cases;
};

extern const CaseTable case_table;

/// A slot for every edge that starts at a point of the two planes (along axis 0, 1, 2) and for the point itself (3);
/// -1: no vertex. Only rows that were used are cleared, so that sparse surfaces cost little.
class EdgeSlots {
 public:
  explicit EdgeSlots(const Box& points) : lo_(points.lo), rows_(points.extent(1)), row_(4 * points.extent(0)) {
    for (auto& plane : planes_) {
      plane.slots.assign(static_cast<std::size_t>(rows_ * row_), -1);
      plane.used.assign(static_cast<std::size_t>(rows_), 0);
    }
  }
  /// Moves to the planes k and k + 1. The content of plane k is kept if the planes were k - 1 and k.
  void move_to(Index k) {
    if (k == lower_) return;
    if (k != lower_ + 1) clear(planes_[1]);
    std::swap(planes_[0], planes_[1]);
    clear(planes_[1]);
    lower_ = k;
  }
  [[nodiscard]] Index& at(const Index3& p, int kind) {
    Plane& plane = planes_[p[2] - lower_];
    const Index row = p[1] - lo_[1];
    plane.used[static_cast<std::size_t>(row)] = 1;
    return plane.slots[static_cast<std::size_t>(row * row_ + 4 * (p[0] - lo_[0]) + kind)];
  }

 private:
  struct Plane {
    std::vector<Index> slots;
    std::vector<char> used;
  };
  void clear(Plane& plane) const {
    for (Index j = 0; j < rows_; ++j) {
      if (!plane.used[static_cast<std::size_t>(j)]) continue;
      std::fill_n(plane.slots.begin() + j * row_, row_, Index{-1});
      plane.used[static_cast<std::size_t>(j)] = 0;
    }
  }

  Index3 lo_;
  Index rows_, row_;
  Index lower_ = -(Index{1} << 62);
  Plane planes_[2];
};

/// Values of a source in a box that moves upwards. Planes in both the old and the new box are kept, the others filled.
class PlaneBuffer {
 public:
  /// Least and greatest value of a row along i, ignoring NaN, and true if all of it is finite.
  struct Row {
    double low = 0, high = 0;
    bool finite = true;
  };

  explicit PlaneBuffer(ScalarSource& source) : source_(source) {}
  /// Makes the values of `box` available.
  void move_to(const Box& box);

  [[nodiscard]] const Box& box() const noexcept { return box_; }
  [[nodiscard]] const double* row(Index j, Index k) const noexcept {  ///< from box().lo[0] on
    return values_.data() + row_number(j, k) * box_.extent(0);
  }
  [[nodiscard]] double at(const Index3& p) const noexcept { return row(p[1], p[2])[p[0] - box_.lo[0]]; }
  [[nodiscard]] const Row& summary(Index j, Index k) const noexcept {
    return rows_[static_cast<std::size_t>(row_number(j, k))];
  }

 private:
  [[nodiscard]] Index row_number(Index j, Index k) const noexcept {
    return (k - box_.lo[2]) * box_.extent(1) + (j - box_.lo[1]);
  }

  ScalarSource& source_;
  Box box_;
  std::vector<double> values_;
  std::vector<Row> rows_;
};

/// Traces one value through one box of cells.
class MarchingCubesCell {
 public:
  /// Adds to `piece`; on a curved grid everything except the vertices' positions. `numbers` must contain both planes of
  /// a layer when it is traced. With `reverse` triangles are reversed. Keeps references to all arguments except
  /// `cells`.
  MarchingCubesCell(const PointGrid& grid, const Box& cells, const PlaneBuffer& numbers, double value, bool reverse,
                    bool merge_at_points, Piece& piece);
  /// Traces the cells between planes k and k + 1.
  void layer(Index k);
  /// Vertices made since the last call of `forget`, the last ones of the piece.
  [[nodiscard]] const std::vector<CrossedEdge>& fresh() const noexcept { return fresh_; }
  void forget() { fresh_.clear(); }
  [[nodiscard]] Piece& piece() const noexcept { return piece_; }

 private:
  void row(Index j, Index k);
  void classify(const std::array<const double*, 4>& rows);
  void cell(const Index3& p, int inside);
  [[nodiscard]] bool corners_finite(const Index3& p) const;
  [[nodiscard]] Index vertex(const Index3& p, int axis);
  [[nodiscard]] Index add(const CrossedEdge& edge, const Index3& named, int kind);

  const PointGrid& grid_;
  const Box cells_;
  const PlaneBuffer& numbers_;
  const double value_;
  const bool reverse_, merge_at_points_;
  Piece& piece_;
  EdgeSlots slots_;
  std::vector<std::uint8_t> inside_;  ///< for each i along a row of cells: which of its four points are inside
  std::vector<CrossedEdge> fresh_;
};

}  // namespace sidestream
