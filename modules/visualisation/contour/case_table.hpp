// The 256 cases of marching cubes, computed instead of copied.
//
// Corner n of a cell lies at (n >> 2, n & 1, (n >> 1) & 1) from its lowest point. The four corners of the low i side
// are the low four bits of a case, those of the high i side the high four, so that walking along i reuses half of a
// case. A case has bit n set when corner n is inside.
//
// On each face the crossed edges are joined by segments. A face with two inside corners across from each other is
// ambiguous: the segments always cut off the inside corners. Since that depends only on the face, its two cells agree.
// The segments of a cell close to loops, and each loop is cut into triangles such that no diagonal lies in a face.
// Every edge between two vertices then has exactly two triangles, whatever the neighbours are.
#pragma once

#include <array>
#include <cstdint>

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

}  // namespace sidestream
