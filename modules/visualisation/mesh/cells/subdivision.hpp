// Cells of higher order, and strips of triangles, as linear cells of their own points.
//
// The division of a face depends only on that face's points, so neighbours agree, whatever their types. A quadrilateral
// of eight points becomes four corners and the quadrilateral between them. A quadrilateral of nine points becomes four
// quadrilaterals.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sidestream {

/// A linear cell made of some points of another one.
struct LinearPart {
  std::uint8_t type = 0;
  std::vector<int> points;
  std::vector<std::vector<int>> faces{};  ///< for polyhedra
};

/// True if cells of the type are cut into linear ones: VTK's types 6, 21 to 32 and 34 to 36.
[[nodiscard]] bool is_subdivided(std::uint8_t type) noexcept;
/// Number of points of such cells; 0: any number from 3 on.
[[nodiscard]] std::int64_t points_of_subdivided(std::uint8_t type) noexcept;
/// The parts of a cell of that type with `points` points, in a fixed order.
[[nodiscard]] std::vector<LinearPart> linear_parts(std::uint8_t type, std::int64_t points);

/// Divides a convex polyhedron into tetrahedra. They connect its first point with the triangles of the faces that do
/// not contain this point. Each face is cut from its first point. Points are in the order of their numbers.
[[nodiscard]] std::vector<std::array<std::int64_t, 4>> tetrahedra_of(
    const std::vector<std::vector<std::int64_t>>& faces);

}  // namespace sidestream
