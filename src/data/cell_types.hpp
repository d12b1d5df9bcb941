// Types of cells, as VTK numbers them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sidestream {

inline constexpr std::uint8_t vtk_polyhedron_type = 42;

/// How many points a cell of that type has; 0: types that have any number of them, and types that are not known here.
[[nodiscard]] constexpr int points_of_cell_type(std::uint8_t type) noexcept {
  constexpr int points[] = {
      0, 1,  0, 2,  0,  3,  0,  0, 4, 4,  4, 8, 8, 6, 5, 10, 12,  // none, vertex, ..., line, ..., triangle, ..., prisms
      0, 0,  0, 0,                                                // 17 to 20: none
      3, 6,  8, 10, 20, 15, 13,            // quadratic: edge, triangle, quad, tetra, hex, wedge, pyramid
      9, 27, 6, 12, 18, 24, 7,  4, 0, 19,  // biquadratic quad, ..., cubic line, polygon, pyramid
  };
  return type < sizeof points / sizeof points[0] ? points[type] : 0;
}

}  // namespace sidestream
