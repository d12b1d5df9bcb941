// Boxes, compared with counts of their points one by one.
#include <doctest/doctest.h>

#include <random>
#include <set>

#include "sidestream/data/box.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/error.hpp"

using namespace sidestream;

namespace {

std::set<Index3> points_of(const Box& box) {
  std::set<Index3> points;
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) points.insert({i, j, k});
    }
  }
  return points;
}

/// A box with corners from -3 to 5, sometimes empty or reversed.
Box random_box(std::mt19937& random) {
  Box box;
  for (int axis = 0; axis < 3; ++axis) {
    box.lo[axis] = std::uniform_int_distribution<Index>(-3, 3)(random);
    box.hi[axis] = box.lo[axis] + std::uniform_int_distribution<Index>(-1, 5)(random);
  }
  return box;
}

}  // namespace

TEST_CASE("count, contains and intersection agree with the points") {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const Box a = random_box(random), b = random_box(random);
    const auto in_a = points_of(a), in_b = points_of(b);
    CHECK(a.count() == static_cast<Index>(in_a.size()));
    CHECK(a.empty() == in_a.empty());
    std::set<Index3> both;
    for (const Index3& point : in_a) {
      if (in_b.contains(point)) both.insert(point);
    }
    CHECK(points_of(intersection(a, b)) == both);
    CHECK(a.contains(b) == (both == in_b));
    const Index3 probe = a.lo;
    CHECK(b.contains(probe) == in_b.contains(probe));
  }
}

TEST_CASE("a difference is disjoint and holds exactly the other points") {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    const Box box = random_box(random), hole = random_box(random);
    const std::vector<Box> rest = difference(box, hole);
    CHECK(rest.size() <= 6);
    std::set<Index3> points;
    std::size_t total = 0;
    for (const Box& part : rest) {
      CHECK(!part.empty());
      const auto in_part = points_of(part);
      total += in_part.size();
      points.insert(in_part.begin(), in_part.end());
    }
    CHECK(total == points.size());
    std::set<Index3> expected = points_of(box);
    for (const Index3& point : points_of(hole)) expected.erase(point);
    CHECK(points == expected);
  }
}

TEST_CASE("the difference of several boxes is the difference of each") {
  const std::vector<Box> boxes{{{0, 0, 0}, {4, 4, 1}}, {{4, 0, 0}, {8, 4, 1}}};
  std::set<Index3> points;
  for (const Box& part : difference(boxes, {{3, 1, 0}, {5, 2, 1}})) {
    for (const Index3& point : points_of(part)) points.insert(point);
  }
  CHECK(points.size() == 30);
  CHECK(!points.contains({3, 1, 0}));
  CHECK(!points.contains({4, 1, 0}));
}

TEST_CASE("sizes that do not fit") {
  constexpr Index big = Index{1} << 31;
  CHECK(Box{{0, 0, 0}, {big, big, 1}}.count() == big * big);
  CHECK_THROWS_AS(static_cast<void>(Box{{0, 0, 0}, {big, big, 2}}.count()), Error);
  CHECK(grown(Box{{0, 0, 0}, {2, 3, 4}}, 1) == Box{{-1, -1, -1}, {3, 4, 5}});
}

TEST_CASE("a centring is a bit for each axis; axes that the mesh does not use have one point") {
  const Box cells{{1, 2, 0}, {4, 5, 1}};
  for (int n = 0; n < centering_count; ++n) {
    const auto centering = static_cast<Centering>(n);
    for (int dimensions = 1; dimensions <= 3; ++dimensions) {
      const Box points = points_of(reduced(centering, dimensions), cells);
      for (int a = 0; a < 3; ++a) {
        const bool more = a < dimensions && (n >> a & 1);
        CHECK(points.lo[a] == cells.lo[a]);
        CHECK(points.hi[a] == cells.hi[a] + more);
      }
      const Centering back = *centering_named(name_of(centering, dimensions));
      CHECK(reduced(back, dimensions) == reduced(centering, dimensions));
    }
    CHECK(centering_named(name_of(centering)) == centering);
  }
  CHECK(name_of(Centering::z_edge, 2) == "node");
  CHECK(name_of(Centering::x_edge, 2) == "y-face");
  CHECK(name_of(Centering::node, 1) == "node");
  CHECK(name_of(Centering::y_face, 1) == "cell");
  CHECK(!centering_named("face"));
}

TEST_CASE("points of variables and declarations by name") {
  Variable node, cell;
  node.name = "node";
  node.centering = Centering::node;
  cell.name = "cell";
  node.mesh = cell.mesh = 0;
  const Box cells{{1, 2, 3}, {4, 5, 6}};
  CHECK(cell.points(cells) == cells);
  CHECK(node.points(cells) == Box{{1, 2, 3}, {5, 6, 7}});
  CHECK(node.points(Box{}).empty());
  Mesh mesh;
  mesh.name = "grid";
  const Metadata metadata{{mesh}, {node, cell}};
  CHECK(metadata.find_variable("cell") == &metadata.variables[1]);
  CHECK(metadata.find_variable("none") == nullptr);
  CHECK(metadata.find_mesh("grid") == &metadata.meshes[0]);
  CHECK(metadata.find_mesh("cell") == nullptr);
}
