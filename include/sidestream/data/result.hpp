// What analyses produce: tables, images, surfaces.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace sidestream {

/// Named columns of equal length. A cell is a whole number, a real number or text.
struct Table {
  using Cell = std::variant<std::int64_t, double, std::string>;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
};

/// Pixels from the top left, row by row, red green blue alpha, 8 bits each.
struct Image {
  std::int32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};

/// Triangles, or lines where the mesh is a plane, in a canonical order (by global cell, vertices by global edge), so
/// that the same surface is the same bytes however the mesh was divided.
struct Surface {
  struct Array {
    std::string name;
    std::int32_t components = 1;
    std::vector<double> values;  ///< components next to each other, one tuple a point
  };
  std::vector<std::array<double, 3>> points;
  std::vector<std::array<std::int64_t, 3>> triangles;  ///< indices into points, counter-clockwise seen from outside
  std::vector<std::array<std::int64_t, 2>> lines{};    ///< indices into points of both ends of each piece of a line
  std::vector<Array> point_data;
};

}  // namespace sidestream
