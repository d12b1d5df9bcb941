// Each of the 256 cases must make a surface: on every edge, in every cell, and between any two neighbouring cells.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "visualisation/contour/marching_cubes_cell.hpp"

using namespace sidestream;

namespace {

std::array<int, 3> low_end(int edge) { return corner_offset(case_table.edges[edge].corner); }

std::array<double, 3> middle(int edge) {
  const auto low = low_end(edge);
  std::array<double, 3> x{double(low[0]), double(low[1]), double(low[2])};
  x[case_table.edges[edge].axis] += 0.5;
  return x;
}

bool inside(int which, const std::array<int, 3>& at) { return which >> (at[0] << 2 | at[1] | at[2] << 1) & 1; }

bool crossed(int which, int edge) {
  auto high = low_end(edge);
  ++high[case_table.edges[edge].axis];
  return inside(which, low_end(edge)) != inside(which, high);
}

/// True if the segment between two edges' vertices lies in the face of `axis` at `side`.
bool in_face(int a, int b, int axis, int side) { return middle(a)[axis] == side && middle(b)[axis] == side; }

using Sides = std::multiset<std::pair<int, int>>;

/// Directed sides of triangles that no other triangle has in the opposite direction.
Sides open_sides(int which) {
  Sides sides;
  const CellCase& what = case_table.cases[which];
  for (int n = 0; n < what.count; ++n) {
    for (int v = 0; v < 3; ++v) {
      const int a = what.triangles[n][v], b = what.triangles[n][(v + 1) % 3];
      if (const auto twin = sides.find({b, a}); twin != sides.end()) {
        sides.erase(twin);
      } else {
        sides.insert({a, b});
      }
    }
  }
  return sides;
}

}  // namespace

TEST_CASE("twelve different edges") {
  std::set<std::array<double, 3>> seen;
  for (int e = 0; e < 12; ++e) seen.insert(middle(e));
  CHECK(seen.size() == 12);
}

TEST_CASE("a case uses exactly the crossed edges") {
  for (int which = 0; which < 256; ++which) {
    std::set<int> used;
    const CellCase& what = case_table.cases[which];
    for (int n = 0; n < what.count; ++n) used.insert(what.triangles[n].begin(), what.triangles[n].end());
    for (int e = 0; e < 12; ++e) CHECK(crossed(which, e) == (used.count(e) == 1));
  }
  CHECK(case_table.cases[0].count == 0);
  CHECK(case_table.cases[255].count == 0);
}

TEST_CASE("what is open within a cell lies in its faces, and only that does") {
  for (int which = 0; which < 256; ++which) {
    const Sides open = open_sides(which);
    std::set<std::pair<int, int>> all;
    const CellCase& what = case_table.cases[which];
    for (int n = 0; n < what.count; ++n) {
      for (int v = 0; v < 3; ++v) all.insert({what.triangles[n][v], what.triangles[n][(v + 1) % 3]});
    }
    for (const auto& side : all) {
      bool lies_in_face = false;
      for (int face = 0; face < 6; ++face) lies_in_face |= in_face(side.first, side.second, face / 2, face % 2);
      CHECK(lies_in_face == (open.count(side) == 1));
    }
  }
}

TEST_CASE("two cells that share a face close there, whatever their other corners") {
  for (int axis = 0; axis < 3; ++axis) {
    // Segments in the face by the pattern of its four corners. Those of the high side must be those of the low side,
    // reversed.
    std::map<int, std::set<Sides>> low, high;
    for (int which = 0; which < 256; ++which) {
      for (int side = 0; side < 2; ++side) {
        int pattern = 0;
        for (int n = 0; n < 4; ++n) {
          std::array<int, 3> at{};
          at[axis] = side;
          at[(axis + 1) % 3] = n & 1;
          at[(axis + 2) % 3] = n >> 1;
          pattern |= inside(which, at) << n;
        }
        Sides segments;
        for (const auto& [a, b] : open_sides(which)) {
          if (!in_face(a, b, axis, side)) continue;
          // Name the vertex by its position in the face, on the low side.
          const auto name = [&](int e) {
            auto x = middle(e);
            x[axis] = 0;
            return int(4 * x[0] + 16 * x[1] + 64 * x[2]);
          };
          segments.insert(side ? std::pair(name(b), name(a)) : std::pair(name(a), name(b)));
        }
        (side ? high : low)[pattern].insert(segments);
      }
    }
    for (int pattern = 0; pattern < 16; ++pattern) {
      CHECK(low[pattern].size() == 1);
      CHECK(low[pattern] == high[pattern]);
    }
  }
}

TEST_CASE("triangles are counter-clockwise seen from outside") {
  for (int corner = 0; corner < 8; ++corner) {
    const CellCase& what = case_table.cases[1 << corner];
    REQUIRE(what.count == 1);
    const auto a = middle(what.triangles[0][0]), b = middle(what.triangles[0][1]), c = middle(what.triangles[0][2]);
    const auto at = corner_offset(corner);
    double u[3], v[3], away = 0;
    for (int x = 0; x < 3; ++x) {
      u[x] = b[x] - a[x];
      v[x] = c[x] - a[x];
    }
    for (int x = 0; x < 3; ++x) {
      const int y = (x + 1) % 3, z = (x + 2) % 3;
      away += (u[y] * v[z] - u[z] * v[y]) * (a[x] - at[x]);
    }
    CHECK(away > 0);
  }
}
