// Cells cut by planes, exactly for linear cells, and by spheres, in flat pieces between the edges that a sphere
// crosses.
//
// A cell that a plane crosses is cut into simplices from its least point, each face from its least point by key. Only
// the faces decide how they are cut, so that neighbours agree, whatever their types and blocks. (Dompierre, Labbe,
// Vallet and Camarero, "How to subdivide pyramids, prisms and hexahedra into tetrahedra", 1999.) A simplex leaves a
// simplex, a wedge or a pyramid on either side of a plane.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "visualisation/mesh/cells/block_cells.hpp"
#include "visualisation/mesh/plane.hpp"

namespace sidestream {

/// In a mesh of fewer than three dimensions a circle, or two places.
struct Sphere {
  std::array<double, 3> centre{};
  double radius = 0;
  std::size_t dimensions = 3;  ///< axes that count
};

/// The region that is kept: all x with a distance of 0 or more to each border, or everything outside of it.
struct ClipRegion {
  std::vector<Plane> planes;     ///< up to six; normals point to the inside
  std::optional<Sphere> sphere;  ///< instead of planes
  bool outside = false;
  bool crinkle = false;  ///< keeps cells whole if any part is kept

  [[nodiscard]] std::size_t borders() const noexcept { return sphere ? 1 : planes.size(); }
  /// The distance of a place to a border, positive inside, in units of the plane's normal.
  [[nodiscard]] double distance(std::size_t border, const std::array<double, 3>& x) const;
  /// The fraction of the way from `a` to `b`, which are on different sides, where the border is.
  [[nodiscard]] double crossing(std::size_t border, const std::array<double, 3>& a,
                                const std::array<double, 3>& b) const;
};

/// Cuts the cells of one block.
class Cutter {
 public:
  /// Keeps references.
  Cutter(const BlockCells& cells, const std::vector<BlockNumbers>& fields, const ClipRegion& region,
         PieceBuilder& builder);
  /// Adds the kept part of a cell.
  void take(std::size_t number, const BlockCell& cell);

 private:
  /// A linear cell made of points of the cutter.
  struct Shape {
    std::uint8_t type;
    std::vector<std::size_t> points;
  };
  using Shapes = std::vector<Shape>;

  [[nodiscard]] double distance(std::size_t point, std::size_t plane) const;
  [[nodiscard]] const PointKey& key(std::size_t point) const { return points_[point].key; }
  std::size_t point_of_block(std::size_t p);
  std::size_t between(std::size_t p, std::size_t q, std::size_t plane);
  [[nodiscard]] std::size_t least(std::span<const std::size_t> points) const;
  /// Appends the simplices of a cell.
  void split(const BlockCell& cell, Shapes& simplices);
  void split(const Shape& shape, Shapes& simplices) const;
  void split_solid(const std::vector<std::vector<std::size_t>>& faces, Shapes& simplices) const;
  void split_loop(std::span<const std::size_t> loop, Shapes& simplices) const;
  /// Appends the part of a simplex on the positive side, or, with `sign` -1, on the other one.
  void cut(const Shape& simplex, std::size_t plane, double sign, Shapes& kept);
  void cut_line(const Shape& line, std::span<const double> d, std::size_t plane, Shapes& kept);
  void cut_triangle(const Shape& triangle, std::span<const double> d, std::size_t plane, Shapes& kept);
  void cut_tetrahedron(const Shape& tetrahedron, std::span<const double> d, std::size_t plane, Shapes& kept);
  void turn_right(Shape& shape) const;
  [[nodiscard]] Shapes inside(Shapes rest, std::span<const std::size_t> planes);
  [[nodiscard]] Shapes outside(Shapes rest, std::span<const std::size_t> planes);

  /// A point of the block, or one that a cut made.
  struct Point {
    std::array<double, 3> place;
    PointKey key;
    std::vector<double> values;  ///< fields at points
    std::size_t of_block;        ///< its number there, or `made`
    std::int64_t number;         ///< number in the piece, -1: not yet
  };
  static constexpr std::size_t made = static_cast<std::size_t>(-1);
  [[nodiscard]] std::int64_t number_in_piece(std::size_t point);

  const BlockCells& cells_;
  const std::vector<BlockNumbers>& fields_;
  const ClipRegion& region_;
  PieceBuilder& builder_;
  std::vector<Point> points_;
  std::map<PointKey, std::size_t> made_;
  std::map<std::size_t, std::size_t> of_block_;
};

}  // namespace sidestream
