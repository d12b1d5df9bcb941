// The vertices of a surface in a list of cells: their identity, positions and values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "visualisation/contour/contour_cells.hpp"

namespace sidestream {

/// Makes the vertices of one piece.
class CellVertices {
 public:
  /// Keeps references.
  CellVertices(const CellContour& request, Piece& piece);
  /// Begins a cell, to which the following vertices belong.
  void enter(std::size_t cell);
  /// The vertex at the value on the edge between two points, or at a point.
  std::int64_t between(std::size_t p, std::size_t q, double value);
  std::int64_t at(std::size_t point) { return vertex(point, point, 0); }
  /// Adds a triangle or a line of the cell.
  template <class Cell, class Cells>
  void add(const Cell& corners, Cells& to) {
    to.push_back(corners);
    piece_.cells.push_back(cell_key(corners));
  }
  /// Computes the fields of the vertices.
  void finish();
  [[nodiscard]] Piece& piece() noexcept { return piece_; }

 private:
  struct Vertex {
    std::size_t a, b;  ///< points, the one of the lower name first
    double t;
    std::size_t cell;
    std::int64_t next;  ///< next vertex with the same first point, -1: none
  };
  std::int64_t vertex(std::size_t a, std::size_t b, double t);
  [[nodiscard]] std::int64_t find(std::size_t a, std::size_t b) const noexcept;  ///< -1: there is none yet
  std::int64_t add_vertex(std::size_t a, std::size_t b, double t);
  [[nodiscard]] std::array<double, 3> normal_at(const Vertex& v) const;
  template <class Cell>
  [[nodiscard]] std::int64_t cell_key(const Cell& corners) const {
    if (name_) return *name_;
    std::int64_t least = piece_.keys[static_cast<std::size_t>(corners[0])];
    for (const std::int64_t v : corners) least = std::min(least, piece_.keys[static_cast<std::size_t>(v)]);
    return least;
  }

  const CellContour& request_;
  Piece& piece_;
  const bool apart_;  ///< every cell has vertices of its own
  std::size_t cell_ = 0;
  std::optional<std::int64_t> name_;
  std::int64_t part_ = 0;
  std::size_t first_ = 0;  ///< first vertex of the cell, if they are apart
  /// For each point the last vertex that begins at it, -1: none. Points of a cell are near each other in most lists, so
  /// that this lookup is faster than a hash table.
  std::vector<std::int64_t> last_;
  std::vector<Vertex> vertices_;
};

}  // namespace sidestream
