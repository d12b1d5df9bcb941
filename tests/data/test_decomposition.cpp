// The pieces of decompositions, and the points of periodic meshes, checked by counting.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "data/images.hpp"
#include "sidestream/data/decomposition.hpp"
#include "sidestream/kit/data/box_values.hpp"

using namespace sidestream;

namespace {

Mesh mesh_of(Box cells, int dimensions) {
  Mesh mesh;
  mesh.cells = cells;
  mesh.dimensions = dimensions;
  return mesh;
}

std::vector<Box> pieces(const Decomposition& decomposition, const Mesh& mesh, int servers) {
  std::vector<Box> all;
  for (int server = 0; server < servers; ++server) all.push_back(piece_of(decomposition, mesh, servers, server));
  return all;
}

template <class F>
void for_each_point(const Box& box, F&& f) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) f(Index3{i, j, k});
    }
  }
}

}  // namespace

TEST_CASE("every cell is in one piece, and lines and planes are whole") {
  const std::vector<Mesh> meshes{mesh_of({{0, 0, 0}, {7, 5, 4}}, 3), mesh_of({{-3, 2, 1}, {1, 3, 9}}, 3),
                                 mesh_of({{0, 0, 0}, {6, 5, 1}}, 2), mesh_of({{5, 0, 0}, {9, 1, 1}}, 1)};
  for (const Mesh& mesh : meshes) {
    for (int servers = 1; servers <= 13; ++servers) {
      for (const auto kind : {Decomposition::Kind::slabs, Decomposition::Kind::pencils, Decomposition::Kind::bricks}) {
        for (int axis = 0; axis < mesh.dimensions; ++axis) {
          std::map<Index3, int> times;
          for (const Box& piece : pieces({kind, axis}, mesh, servers)) {
            for_each_point(piece, [&](const Index3& p) { ++times[p]; });
            if (piece.empty()) continue;
            for (int a = 0; a < 3; ++a) {
              const auto n = static_cast<std::size_t>(a);
              const bool whole = kind == Decomposition::Kind::slabs     ? a != axis
                                 : kind == Decomposition::Kind::pencils ? a == axis
                                                                        : a >= mesh.dimensions;
              if (whole) CHECK(std::pair(piece.lo[n], piece.hi[n]) == std::pair(mesh.cells.lo[n], mesh.cells.hi[n]));
            }
          }
          CHECK(times.size() == static_cast<std::size_t>(mesh.cells.count()));
          for (const auto& [p, count] : times) CHECK(count == 1);
        }
      }
    }
  }
}

TEST_CASE("pieces differ by a cell along an axis, and no server that could have one has none") {
  const Mesh mesh = mesh_of({{0, 0, 0}, {11, 3, 5}}, 3);
  for (int servers = 1; servers <= 20; ++servers) {
    const std::vector<Box> all = pieces(Decomposition::slabs(0), mesh, servers);
    Index least = 11, most = 0, there = 0;
    for (const Box& piece : all) {
      if (piece.empty()) continue;
      ++there;
      least = std::min(least, piece.extent(0));
      most = std::max(most, piece.extent(0));
    }
    CHECK(there == std::min(servers, 11));
    CHECK(most - least <= 1);
    for (std::size_t n = 1; n < all.size() && !all[n].empty(); ++n) CHECK(all[n].lo[0] == all[n - 1].hi[0]);
  }
}

TEST_CASE("bricks are near to cubes, and pencils to squares") {
  const Mesh mesh = mesh_of({{0, 0, 0}, {64, 64, 64}}, 3);
  const auto extent = [](const Box& box) { return Index3{box.extent(0), box.extent(1), box.extent(2)}; };
  CHECK(extent(piece_of(Decomposition::bricks(), mesh, 8, 5)) == Index3{32, 32, 32});
  CHECK(extent(piece_of(Decomposition::bricks(), mesh, 64, 63)) == Index3{16, 16, 16});
  CHECK(extent(piece_of(Decomposition::pencils(2), mesh, 16, 0)) == Index3{16, 16, 64});
  CHECK(extent(piece_of(Decomposition::pencils(0), mesh, 4, 3)) == Index3{64, 32, 32});
  // A long mesh is cut more often along its long axis.
  CHECK(extent(piece_of(Decomposition::bricks(), mesh_of({{0, 0, 0}, {8, 8, 64}}, 3), 8, 0)) == Index3{8, 8, 8});
  // Index i runs fastest among servers.
  CHECK(piece_of(Decomposition::bricks(), mesh, 8, 1).lo == Index3{32, 0, 0});
  CHECK(piece_of(Decomposition::bricks(), mesh, 8, 2).lo == Index3{0, 32, 0});
}

TEST_CASE("a great many servers") {
  const Mesh mesh = mesh_of({{0, 0, 0}, {4096, 4096, 4096}}, 3);
  Index cells = 0;
  for (const int server : {0, 1, 49'999, 99'999}) {
    cells = piece_of(Decomposition::bricks(), mesh, 100'000, server).count();
    CHECK(cells > 0);
    CHECK(cells <= mesh.cells.count() / 100'000 * 5 / 4);
  }
}

TEST_CASE("images of a region on a periodic mesh") {
  std::mt19937 random(3);
  const auto any = [&](Index lo, Index hi) { return std::uniform_int_distribution<Index>(lo, hi)(random); };
  for (int round = 0; round < 400; ++round) {
    Box cells, region;
    std::array<bool, 3> periodic{};
    for (std::size_t a = 0; a < 3; ++a) {
      cells.lo[a] = any(-2, 2);
      cells.hi[a] = cells.lo[a] + any(1, 3);
      region.lo[a] = any(-7, 5);
      region.hi[a] = region.lo[a] + any(0, 8);
      periodic[a] = any(0, 1) == 1;
    }
    const auto centering = static_cast<Centering>(round % 8);
    const Box points = points_of(centering, cells);
    std::map<Index3, Index3> found;
    for (const PeriodicImage& image : images_of(region, cells, centering, periodic)) {
      CHECK(image.shift != Index3{0, 0, 0});
      CHECK(points.contains(image.source));
      for_each_point(image.source, [&](const Index3& p) {
        const Index3 at{p[0] + image.shift[0], p[1] + image.shift[1], p[2] + image.shift[2]};
        CHECK(found.emplace(at, p).second);
      });
    }
    for_each_point(region, [&](const Index3& p) {
      Index3 q = p;
      for (std::size_t a = 0; a < 3; ++a) {
        const Index n = cells.hi[a] - cells.lo[a];
        while (periodic[a] && q[a] < points.lo[a]) q[a] += n;
        while (periodic[a] && q[a] >= points.hi[a]) q[a] -= n;
      }
      const auto at = found.find(p);
      const bool beyond = points.contains(q) && !points.contains(p);
      CHECK((at != found.end()) == beyond);
      if (at != found.end() && beyond) CHECK(at->second == q);
    });
    for (const auto& [at, p] : found) CHECK(region.contains(at));
  }
}

TEST_CASE("copying and erasing a box of an array, whatever the order") {
  for (const Order from_order : {Order::column, Order::row}) {
    for (const Order to_order : {Order::column, Order::row}) {
      for (const int components : {1, 3}) {
        const Box outer{{-1, 0, 2}, {4, 3, 6}}, inner{{0, 1, 3}, {3, 3, 5}}, part{{1, 1, 3}, {3, 2, 5}};
        std::vector<float> from(static_cast<std::size_t>(outer.count() * components));
        std::vector<float> to(static_cast<std::size_t>(inner.count() * components), -1);
        const ArrayView a{from.data(), Type::float32, MemorySpace::host,
                          outer,       components,    packed_strides(outer, components, from_order)};
        const ArrayView b{to.data(), Type::float32, MemorySpace::host,
                          inner,     components,    packed_strides(inner, components, to_order)};
        const auto value = [](const Index3& p, int c) {
          return static_cast<float>(p[0] + 10 * p[1] + 100 * p[2] + 1000 * c);
        };
        for_each_point(outer, [&](const Index3& p) {
          for (int c = 0; c < components; ++c) *const_cast<float*>(a.at<float>(p[0], p[1], p[2], c)) = value(p, c);
        });
        copy_box(a, b, part);
        for_each_point(inner, [&](const Index3& p) {
          for (int c = 0; c < components; ++c) {
            CHECK(*b.at<float>(p[0], p[1], p[2], c) == (part.contains(p) ? value(p, c) : -1));
          }
        });
        erase_box(b, part);
        for_each_point(inner, [&](const Index3& p) {
          for (int c = 0; c < components; ++c) CHECK((*b.at<float>(p[0], p[1], p[2], c) != -1) == part.contains(p));
        });
      }
    }
  }
}
