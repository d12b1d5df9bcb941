// Traces one value through one box of cells, one layer of cells at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "visualisation/contour/case_table.hpp"
#include "visualisation/contour/contour.hpp"
#include "visualisation/contour/crossed_edge.hpp"
#include "visualisation/contour/edge_slots.hpp"
#include "visualisation/contour/plane_buffer.hpp"

namespace sidestream {

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
