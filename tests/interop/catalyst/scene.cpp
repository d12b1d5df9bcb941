#include "scene.hpp"

#include <algorithm>
#include <cmath>

namespace scene {

Index3 Slab::points() const {
  Index3 n{1, 1, 1};
  for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) n[a] = cells()[a] + 1;
  return n;
}

double Slab::stretched(int axis, std::int64_t index) const {
  const double at = static_cast<double>(index);
  return origin[static_cast<std::size_t>(axis)] + 0.25 * at + 0.01 * at * at;
}

std::array<double, 3> Slab::bent(const Index3& index) const {
  const double x = node(0, index[0]), y = node(1, index[1]), z = node(2, index[2]);
  return {x + 0.05 * y, y + 0.1 * std::sin(x), z + 0.02 * x * y};
}

Slab slab_of(int rank, int ranks, int dimensions, bool ghosts) {
  Slab slab;
  slab.dimensions = dimensions;
  for (std::size_t a = static_cast<std::size_t>(dimensions); a < 3; ++a) slab.size[a] = 1;
  slab.hi = slab.size;
  slab.lo[0] = slab.size[0] * rank / ranks;
  slab.hi[0] = slab.size[0] * (rank + 1) / ranks;
  slab.from = slab.lo;
  slab.to = slab.hi;
  if (ghosts) {
    slab.from[0] = std::max<std::int64_t>(0, slab.lo[0] - 1);
    slab.to[0] = std::min(slab.size[0], slab.hi[0] + 1);
  }
  return slab;
}

std::vector<Slab> patches_of(int rank, int ranks) {
  const Slab base = slab_of(rank, ranks, 3, false);
  if (base.cells()[0] == 0) return {};
  Slab fine = base;
  for (std::size_t a = 0; a < 3; ++a) {
    fine.spacing[a] = 0.5 * base.spacing[a];
    fine.size[a] = 2 * base.size[a];
    fine.lo[a] = 2 * base.lo[a];
    fine.hi[a] = a == 0 ? fine.lo[a] + 2 : 2 * base.hi[a];
  }
  fine.from = fine.lo;
  fine.to = fine.hi;
  return {base, fine};
}

double value(double x, double y, double z, double time) { return std::sin(3 * x + time) + 0.5 * y * z - 0.1 * x * y; }

std::vector<double> values_on(const Slab& slab, bool at_points, double time) {
  const Index3 n = at_points ? slab.points() : slab.cells();
  const double half = at_points ? 0 : 0.5;
  std::vector<double> all;
  for (std::int64_t k = 0; k < n[2]; ++k) {
    for (std::int64_t j = 0; j < n[1]; ++j) {
      for (std::int64_t i = 0; i < n[0]; ++i) {
        all.push_back(value(slab.node(0, slab.from[0] + i) + half * slab.spacing[0],
                            slab.node(1, slab.from[1] + j) + half * slab.spacing[1],
                            slab.node(2, slab.from[2] + k) + half * slab.spacing[2], time));
      }
    }
  }
  return all;
}

namespace {

/// Adds a cell as polyhedron: the numbers of six faces, which become polygons of their own.
void add_polyhedron(const std::array<std::int64_t, 8>& p, Lists& lists) {
  constexpr std::array<std::array<int, 4>, 6> faces{
      {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}}};
  for (const auto& face : faces) {
    lists.connectivity.push_back(static_cast<std::int64_t>(lists.face_sizes.size()));
    lists.face_offsets.push_back(static_cast<std::int64_t>(lists.face_connectivity.size()));
    lists.face_sizes.push_back(4);
    for (const int corner : face) lists.face_connectivity.push_back(p[static_cast<std::size_t>(corner)]);
  }
}

void add_cell(const std::vector<std::int64_t>& points, std::int64_t type, double at, Lists& lists) {
  lists.offsets.push_back(static_cast<std::int64_t>(lists.connectivity.size()));
  lists.connectivity.insert(lists.connectivity.end(), points.begin(), points.end());
  lists.sizes.push_back(static_cast<std::int64_t>(points.size()));
  lists.shapes.push_back(type);
  lists.cell_values.push_back(at);
}

/// A hexahedron, or in turn two wedges or a polyhedron of the same place.
void add_hexahedron(const std::array<std::int64_t, 8>& p, std::int64_t turn, double at, Lists& lists) {
  if (turn == 0) return add_cell({p.begin(), p.end()}, 12, at, lists);
  if (turn == 1) {
    add_cell({p[0], p[1], p[2], p[4], p[5], p[6]}, 13, at, lists);
    return add_cell({p[0], p[2], p[3], p[4], p[6], p[7]}, 13, at, lists);
  }
  lists.offsets.push_back(static_cast<std::int64_t>(lists.connectivity.size()));
  add_polyhedron(p, lists);
  lists.sizes.push_back(6);
  lists.shapes.push_back(42);
  lists.cell_values.push_back(at);
}

}  // namespace

Lists lists_of(const Slab& slab, bool mixed, double time) {
  Lists lists;
  const Index3 n = slab.points(), cells = slab.cells();
  lists.point_values = values_on(slab, true, time);
  for (std::int64_t k = 0; k < n[2]; ++k) {
    for (std::int64_t j = 0; j < n[1]; ++j) {
      for (std::int64_t i = 0; i < n[0]; ++i) {
        for (const double x : slab.bent({slab.from[0] + i, slab.from[1] + j, slab.from[2] + k}))
          lists.places.push_back(x);
      }
    }
  }
  const std::vector<double> in_cells = values_on(slab, false, time);
  const auto point = [&](std::int64_t i, std::int64_t j, std::int64_t k) { return i + n[0] * (j + n[1] * k); };
  for (std::int64_t k = 0; k < cells[2]; ++k) {
    for (std::int64_t j = 0; j < cells[1]; ++j) {
      for (std::int64_t i = 0; i < cells[0]; ++i) {
        const std::array<std::int64_t, 8> p{
            point(i, j, k),     point(i + 1, j, k),     point(i + 1, j + 1, k),     point(i, j + 1, k),
            point(i, j, k + 1), point(i + 1, j, k + 1), point(i + 1, j + 1, k + 1), point(i, j + 1, k + 1)};
        const double at = in_cells[static_cast<std::size_t>(i + cells[0] * (j + cells[1] * k))];
        add_hexahedron(p, mixed ? (slab.from[0] + i + j + k) % 3 : 0, at, lists);
      }
    }
  }
  return lists;
}

}  // namespace scene
