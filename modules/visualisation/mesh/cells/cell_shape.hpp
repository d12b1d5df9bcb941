// Cells of VTK's linear types: positions in a cell and the weights of its corners.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "visualisation/mesh/sample_points.hpp"

namespace sidestream::sampling {

inline constexpr std::size_t most_corners = 8;

/// VTK's numbers of the types in which values can be interpolated.
enum class CellType : std::uint8_t {
  line = 3,
  triangle = 5,
  pixel = 8,
  quad = 9,
  tetrahedron = 10,
  voxel = 11,
  hexahedron = 12,
  wedge = 13,
  pyramid = 14,
};

/// Dimensions and corners of a type; 0 for types that are none of the above.
struct CellKind {
  int dimensions = 0;
  std::size_t corners = 0;
};
[[nodiscard]] CellKind kind_of(std::uint8_t type) noexcept;

/// Weight of each corner at a position; they sum to 1.
using Weights = std::array<double, most_corners>;

/// A position in a cell.
struct Located {
  Weights weights{};
  double margin = 0;  ///< distance from the nearest face in the cell's parameters, which run from 0 to 1
};

/// The weights of the corners at a position in a cell. Newton's method inverts its map from parameters to space.
/// Nothing if the position is outside, beyond a tolerance of 1e-9 of the cell's size. `corners` are in VTK's order, as
/// many as the type has, with as many coordinates as it has dimensions. The same numbers give the same result
/// everywhere.
[[nodiscard]] std::optional<Located> locate(std::uint8_t type, std::span<const Place> corners, const Place& place);

}  // namespace sidestream::sampling
