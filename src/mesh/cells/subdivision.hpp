// Cells of higher order, and strips of triangles, as linear cells of their own points.
//
// What lies on a face of the cell depends on that face's points alone, so neighbours agree, whatever their types: a
// quadrilateral of eight points is four corners and the quadrilateral between, one of nine points four quadrilaterals.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sidestream {

/// A linear cell made of some points of another one.
struct LinearPart {
  std::uint8_t type = 0;
  std::vector<int> points;
  std::vector<std::vector<int>> faces{};  ///< of polyhedra
};

/// Whether cells of the type are cut into linear ones: VTK's types 6, 21 to 32 and 34 to 36.
[[nodiscard]] bool is_subdivided(std::uint8_t type) noexcept;
/// How many points such cells have; 0: any number from 3 on.
[[nodiscard]] std::int64_t points_of_subdivided(std::uint8_t type) noexcept;
/// The parts of a cell of that type with `points` points, in an order of their own.
[[nodiscard]] std::vector<LinearPart> linear_parts(std::uint8_t type, std::int64_t points);

/// The tetrahedra of a convex polyhedron: between its first point and the triangles of the faces without it, each face
/// cut from its first point. Points are in the order of their numbers.
[[nodiscard]] std::vector<std::array<std::int64_t, 4>> tetrahedra_of(
    const std::vector<std::vector<std::int64_t>>& faces);

}  // namespace sidestream
