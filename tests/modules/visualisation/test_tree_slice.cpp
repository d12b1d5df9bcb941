// Slices of trees and of refinement levels with `cells: own`, compared with polygons clipped by each leaf's box. They
// have the same bytes for every division, and for a tree and the same tree as patches.
#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <numbers>

#include "modules/visualisation/tree_patches.hpp"
#include "modules/visualisation/tree_world.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "support/surface_checks.hpp"
#include "support/test_all.hpp"
#include "visualisation/kinds.hpp"
#include "visualisation/mesh/cells/cell_section.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

Surface surface_of(const CapturedResults& results) {
  REQUIRE(results.surfaces.size() == 1);
  return results.surfaces.begin()->second;
}

Surface sliced(const std::string& yaml, const World& world, std::size_t blocks = 1) {
  MpiCommunicator self(MPI_COMM_SELF);
  const Trees trees(world, blocks);
  return surface_of(run_lists(slice_kind(), yaml, trees.domain, trees.blocks, self, 2));
}

/// Clips a polygon by one side of a box (Sutherland and Hodgman).
std::vector<Vector> clipped(const std::vector<Vector>& polygon, std::size_t axis, double end, double sign) {
  std::vector<Vector> rest;
  for (std::size_t n = 0; n < polygon.size(); ++n) {
    const Vector &a = polygon[n], &b = polygon[(n + 1) % polygon.size()];
    const double da = sign * (end - a[axis]), db = sign * (end - b[axis]);
    if (da >= 0) rest.push_back(a);
    if ((da < 0) == (db < 0)) continue;
    Vector x{};
    for (std::size_t d = 0; d < 3; ++d) x[d] = a[d] + (b[d] - a[d]) * (da / (da - db));
    rest.push_back(x);
  }
  return rest;
}

double area_of(const std::vector<Vector>& polygon) {
  Vector sum{};
  for (std::size_t n = 2; n < polygon.size(); ++n) {
    const Vector part = cross(minus(polygon[n - 1], polygon[0]), minus(polygon[n], polygon[0]));
    for (std::size_t d = 0; d < 3; ++d) sum[d] += part[d];
  }
  return 0.5 * norm(sum);
}

/// Area of the part of a plane that lies within a box.
double expected_area(const Vector& normal, const Vector& origin, const Vector& low, const Vector& high) {
  const Vector aside = std::fabs(normal[0]) < 0.9 * norm(normal) ? Vector{1, 0, 0} : Vector{0, 1, 0};
  Vector u = cross(normal, aside), v = cross(normal, u);
  const double nu = norm(u), nv = norm(v);
  std::vector<Vector> square;
  for (const auto& [s, t] : {std::pair{-99.0, -99.0}, {99.0, -99.0}, {99.0, 99.0}, {-99.0, 99.0}}) {
    square.push_back({});
    for (std::size_t d = 0; d < 3; ++d) square.back()[d] = origin[d] + s * u[d] / nu + t * v[d] / nv;
  }
  for (std::size_t a = 0; a < 3; ++a) {
    square = clipped(square, a, high[a], 1);
    square = clipped(square, a, low[a], -1);
  }
  return area_of(square);
}

double value_at(const Surface& s, std::size_t array, std::int64_t point) {
  return s.point_data.at(array).values.at(static_cast<std::size_t>(point));
}

}  // namespace

TEST_CASE("planes of any direction show of each leaf what a clipped polygon does, with its own value") {
  const World world = world_of(3);
  const Vector normals[] = {{1, 0, 0}, {0, 0, -1}, {1, 1, 0}, {1, 0.5, 0.25}, {-0.3, 2, 1}, {1e-7, 1, 1e-7}};
  const Vector origin{0.3, 1.05, 2.7};
  for (const Vector& normal : normals) {
    const std::string plane = "normal: [" + std::to_string(normal[0] * 1e7) + ", " + std::to_string(normal[1] * 1e7) +
                              ", " + std::to_string(normal[2] * 1e7) + "], origin: [0.3, 1.05, 2.7]";
    CAPTURE(plane);
    const Surface s = sliced("{variable: t, fields: level, " + plane + "}", world);
    REQUIRE(!s.triangles.empty());
    // Each triangle is in one leaf, lies on the plane, faces the normal, and has the leaf's value at all corners.
    bool right = true;
    std::map<std::array<Index, 4>, double> by_leaf;
    for (std::size_t t = 0; t < s.triangles.size(); ++t) {
      Vector middle{};
      for (const std::int64_t p : s.triangles[t]) {
        for (std::size_t d = 0; d < 3; ++d) middle[d] += s.points[static_cast<std::size_t>(p)][d] / 3;
        right &=
            std::fabs(dot(minus(s.points[static_cast<std::size_t>(p)], origin), normal)) <= 1e-14 * norm(normal) * 9;
      }
      right &= dot(spanned(s, t), normal) > 0;
      int found = 0;
      world.for_each_leaf([&](const TreeCell& leaf) {
        const Vector low = world.corner(leaf, 0), high = world.corner(leaf, 7);
        bool in = true;
        for (std::size_t d = 0; d < 3; ++d) in &= low[d] <= middle[d] && middle[d] < high[d];
        if (!in) return;
        ++found;
        for (const std::int64_t p : s.triangles[t]) {
          for (std::size_t d = 0; d < 3; ++d) {
            const double x = s.points[static_cast<std::size_t>(p)][d];
            right &= low[d] <= x && x <= high[d];
          }
          const double value = value_at(s, 0, p), expected = world.value(leaf);
          right &= value == expected || (std::isnan(value) && std::isnan(expected));
          right &= value_at(s, 1, 2 * p) == leaf.level;
        }
        by_leaf[{leaf.level, leaf.index[0], leaf.index[1], leaf.index[2]}] += 0.5 * norm(spanned(s, t));
      });
      right &= found == 1;
    }
    CHECK(right);
    double whole = 0;
    world.for_each_leaf([&](const TreeCell& leaf) {
      const double expected = expected_area(normal, origin, world.corner(leaf, 0), world.corner(leaf, 7));
      const auto found = by_leaf.find({leaf.level, leaf.index[0], leaf.index[1], leaf.index[2]});
      CHECK((found == by_leaf.end() ? 0 : found->second) == doctest::Approx(expected).epsilon(1e-9));
      whole += expected;
    });
    CHECK(area(s) == doctest::Approx(whole));
    CHECK(whole == doctest::Approx(expected_area(normal, origin, {-1, 0.5, 2}, {3, 1.5, 3.5})));
  }
}

TEST_CASE("a plane on faces of cells, or on the mesh's own, gives one layer; one that touches a corner nothing") {
  World world = world_of(3);
  world.spacing = {2, 1, 1};  // whole numbers, so that faces are exactly where they should be
  for (const double x : {-1.0, 0.0, 0.5, 1.0, 2.0, 3.0}) {
    CAPTURE(x);
    const Surface s = sliced("{variable: t, fields: level, axis: x, position: " + std::to_string(x) + "}", world);
    CHECK(area(s) == doctest::Approx(1));
    double below = 0;  // area in the leaves below the plane, in which it is drawn unless there are none
    world.for_each_leaf([&](const TreeCell& leaf) {
      const Vector low = world.corner(leaf, 0), high = world.corner(leaf, 7);
      if (x == -1 ? low[0] == x : low[0] < x && high[0] >= x) below += (high[1] - low[1]) * (high[2] - low[2]);
    });
    CHECK(below == doctest::Approx(1));
    bool turned = true;
    for (std::size_t t = 0; t < s.triangles.size(); ++t) turned &= spanned(s, t)[0] > 0;
    CHECK(turned);
    CHECK(edges_of(s).sound);
  }
  CHECK(sliced("{variable: t, normal: [1, 1, 1], origin: [-1, 0.5, 2]}", world).triangles.empty());
  CHECK(sliced("{variable: t, normal: [1, 1, 1], origin: [3, 1.5, 3]}", world).triangles.empty());
  CHECK(sliced("{variable: t, normal: [1, 1, 0], origin: [-1, 0.5, 2]}", world).triangles.empty());
  CHECK_THROWS_WITH_AS(static_cast<void>(sliced("{variable: t, axis: x, position: 3.1}", world)),
                       doctest::Contains("does not meet mesh 'm'"), Error);
}

TEST_CASE("edges are the outlines of cells, with the points of their polygons") {
  const World world = world_of(3);
  for (const char* plane : {"axis: z, position: 2.7", "normal: [1, 0.5, 0.25], origin: [0.3, 1, 2.4]"}) {
    const std::string yaml = "{variable: t, fields: level, " + std::string(plane);
    const Surface without = sliced(yaml + "}", world), with = sliced(yaml + ", edges: true}", world);
    CHECK(without.lines.empty());
    CHECK(with.points == without.points);
    CHECK(with.triangles == without.triangles);
    // The rim of the triangles; polygons of different leaves share no points.
    std::set<std::pair<std::int64_t, std::int64_t>> rim, lines;
    std::map<std::pair<std::int64_t, std::int64_t>, int> count;
    for (const auto& t : with.triangles) {
      for (int v = 0; v < 3; ++v) ++count[std::minmax(t[v], t[(v + 1) % 3])];
    }
    for (const auto& [edge, n] : count) {
      if (n == 1) rim.insert(edge);
    }
    for (const auto& line : with.lines) lines.insert(std::minmax(line[0], line[1]));
    CHECK(lines == rim);
    CHECK(lines.size() == with.lines.size());
  }
}

TEST_CASE("a square tree is drawn whole, or cut in lines") {
  const World world = world_of(2);
  const Surface whole = sliced("{variable: t, axis: z, edges: true}", world);
  CHECK(area(whole) == doctest::Approx(2 * 2 * 3 * 1.0));
  std::size_t leaves = 0;
  world.for_each_leaf([&](const TreeCell&) { ++leaves; });
  CHECK(whole.triangles.size() == 2 * leaves);
  CHECK(whole.lines.size() == 4 * leaves);
  bool up = true;
  for (std::size_t t = 0; t < whole.triangles.size(); ++t) up &= spanned(whole, t)[2] > 0;
  CHECK(up);
  for (const double x : {-1.0, 0.3, 1.0, 3.0}) {
    const Surface lines = sliced("{variable: t, axis: x, position: " + std::to_string(x) + "}", world);
    double length = 0;
    for (const auto& [a, b] : lines.lines) {
      CHECK(lines.points[static_cast<std::size_t>(a)][0] == x);
      // The side to which the normal points, x, is on the right.
      const double way = lines.points[static_cast<std::size_t>(b)][1] - lines.points[static_cast<std::size_t>(a)][1];
      CHECK(way > 0);
      length += way;
    }
    CHECK(length == doctest::Approx(3));
    CHECK(lines.triangles.empty());
  }
  CHECK_THROWS_WITH_AS(static_cast<void>(sliced("{variable: t, axis: x, position: 0, edges: true}", world)),
                       doctest::Contains("has two dimensions"), Error);
}

TEST_CASE("the same bytes for every division and number of servers, with ghosts that the trees have") {
  MpiCommunicator all(test_ranks()), self(MPI_COMM_SELF);
  for (const int dimensions : {2, 3}) {
    const World world = world_of(dimensions);
    const std::string yaml = dimensions == 2 ? "{variable: t, axis: z, edges: true, fields: level}"
                                             : "{variable: t, normal: [1, 0.5, 0.25], origin: [0.3, 1, 2.4], edges: "
                                               "true, fields: level}";
    const Surface expected = sliced(yaml, world);
    REQUIRE(!expected.triangles.empty());
    for (const std::size_t blocks : ends_of({2, 3, 5, 8})) {
      CAPTURE(blocks);
      CHECK(same_bits(sliced(yaml, world, blocks), expected));
      const Trees trees(world, blocks);
      const auto results = run_lists(slice_kind(), yaml, trees.domain, trees.blocks, all, 2);
      if (all.rank() == 0) CHECK(same_bits(surface_of(results), expected));
    }
  }
}

TEST_CASE("patches are the same bytes as the tree that they are") {
  for (const int dimensions : {2, 3}) {
    const World world = world_of(dimensions);
    for (const std::string yaml :
         {"{variable: t, axis: x, position: 0.3, fields: level}", "{variable: t, axis: x, position: 1, fields: level}",
          "{variable: t, axis: z, edges: true, fields: level}",
          "{variable: t, normal: [1, 0.5, 0.25], origin: [0.3, 1, 2.4], fields: level}",
          "{variable: t, axis: y, position: 0.9, levels: [1, 2], fields: level}",
          "{variable: t, axis: y, position: 0.9, levels: 0, fields: level}",
          "{variable: t, axis: y, position: 0.9, box: [-0.5, 0.5, 2, 2, 1.5, 3], fields: level}"}) {
      if (dimensions == 2 && yaml.find("box") != std::string::npos) continue;
      CAPTURE(yaml);
      const Surface tree = sliced(yaml, world), patches = surface_of(run_patches(slice_kind(), yaml, world));
      CHECK(tree.points.size() > 0);
      CHECK(same_bits(tree, patches));
    }
  }
}

TEST_CASE("cells of a level, and in a box") {
  const World world = world_of(3);
  const std::string plane = "axis: y, position: 0.9, fields: level";
  const Surface all = sliced("{variable: t, " + plane + "}", world);
  double sum = 0;
  for (int level = 0; level <= 4; ++level) {
    const Surface one = sliced("{variable: t, levels: " + std::to_string(level) + ", " + plane + "}", world);
    for (std::size_t p = 0; p < one.points.size(); ++p) {
      CHECK(one.point_data.at(1).values[2 * p] == level);
    }
    sum += area(one);
  }
  CHECK(sum == doctest::Approx(area(all)));
  const auto part = [&](const std::string& box) {
    return sliced("{variable: t, box: " + box + ", " + plane + "}", world);
  };
  const double left = area(part("[-9, -9, -9, 0.25, 9, 9]")), right = area(part("[0.25, -9, -9, 9, 9, 9]"));
  CHECK(left > 0);
  CHECK(right > 0);
  CHECK(left + right == doctest::Approx(area(all)));
  CHECK(part("[4, 0, 0, 5, 9, 9]").triangles.empty());
}

TEST_CASE("one cell, no cell, and a variable that is not there") {
  World one = world_of(3);
  one.roots = {1, 1, 1};
  one.refined = [](const TreeCell&) { return false; };
  const Surface cube = sliced("{variable: t, normal: [1, 1, 1], origin: [0, 1, 2.75], edges: true}", one);
  CHECK(cube.triangles.size() == cube.lines.size() - 2);
  CHECK(area(cube) == doctest::Approx(expected_area({1, 1, 1}, {0, 1, 2.75}, {-1, 0.5, 2}, {1, 1.5, 3.5})));
  Trees trees(world_of(3), 2);
  trees.blocks[1].values.erase("level");
  MpiCommunicator self(MPI_COMM_SELF);
  const Surface s = surface_of(run_lists(slice_kind(), "{variable: t, fields: level, axis: x, position: 0.3}",
                                         trees.domain, trees.blocks, self));
  CHECK(area(s) == doctest::Approx(1.5));
  std::size_t none = 0;
  for (const double level : s.point_data.at(1).values) none += std::isnan(level) ? 1 : 0;
  CHECK(none > 0);
  CHECK(none < s.point_data.at(1).values.size());
}

TEST_CASE("uniform meshes whose cells have their own values, and nodes between which it is linear") {
  const auto linear = [](const std::array<double, 3>& x, const Index3&, int) { return 1 + 2 * x[0] - x[1] + 3 * x[2]; };
  const auto number = [](const std::array<double, 3>&, const Index3& p, int) {
    return static_cast<double>(p[0] + 10 * p[1] + 100 * p[2]);
  };
  const FakeDomain domain = fake_cube(6, -1, 1, {{"cells", number}, {"nodes", linear, Centering::node}});
  const std::string yaml = "{variable: cells, cells: own, fields: nodes, normal: [1, 2, 3], origin: [0.1, 0, 0.05]";
  const Surface s = surface_of(run_alone(slice_kind(), yaml + "}", domain, {domain.mesh().cells}));
  CHECK(area(s) == doctest::Approx(expected_area({1, 2, 3}, {0.1, 0, 0.05}, {-1, -1, -1}, {1, 1, 1})));
  bool right = true;
  for (std::size_t p = 0; p < s.points.size(); ++p) {
    right &= std::fabs(s.point_data.at(1).values[p] - linear(s.points[p], {}, 0)) < 1e-13;
  }
  CHECK(right);
  for (const std::size_t blocks : ends_of({2, 5, 9})) {
    const Division division = random_division(domain.mesh().cells, blocks, 4);
    CHECK(same_bits(surface_of(run_alone(slice_kind(), yaml + "}", domain, division, {.ghosts = 1})), s));
  }
  // In a mesh of two dimensions both kinds of slices have the same lines.
  const FakeDomain square = fake_square(5, -1, 1, {{"t", linear}});
  const auto across = [&](const std::string& cells) {
    const Surface lines = surface_of(
        run_alone(slice_kind(), "{variable: t, cells: " + cells + ", normal: [1, 0.3, 0], origin: [0.1, 0, 0]}", square,
                  {square.mesh().cells}));
    std::array<double, 2> sum{};
    for (const auto& [a, b] : lines.lines) {
      for (std::size_t d = 0; d < 2; ++d) {
        sum[d] += lines.points[static_cast<std::size_t>(b)][d] - lines.points[static_cast<std::size_t>(a)][d];
      }
    }
    return sum;
  };
  CHECK(across("own")[0] == doctest::Approx(across("linear")[0]));
  CHECK(across("own")[1] == doctest::Approx(across("linear")[1]));
}

TEST_CASE("what slices of trees and levels cannot do is refused with a sentence") {
  const World world = world_of(3);
  const auto refused = [&](const std::string& yaml, const char* why) {
    CAPTURE(yaml);
    CHECK_THROWS_WITH_AS(static_cast<void>(sliced(yaml, world)), doctest::Contains(why), Error);
  };
  refused("{variable: t, axis: x, cells: linear}", "between its cells slices are not interpolated");
  refused("{variable: t, axis: x, levels: [3, 1]}", "the coarser one first");
  refused("{variable: t, axis: x, box: [0, 0, 1, 1]}", "expected 6");
  refused("{variable: t, axis: x, box: [0, 0, 0, 1, -1, 1]}", "along y");
  CHECK_THROWS_WITH_AS(static_cast<void>(sliced("{variable: t, axis: x, position: 0}", world_of(1))),
                       doctest::Contains("one dimension"), Error);
  const FakeDomain cube = fake_cube(4, 0, 1, {{"t", [](const auto& x, const auto&, int) { return x[0]; }}});
  const auto of_cube = [&](const std::string& yaml, const char* why) {
    CHECK_THROWS_WITH_AS(static_cast<void>(run_alone(slice_kind(), yaml, cube, {cube.mesh().cells})),
                         doctest::Contains(why), Error);
  };
  of_cube("{variable: t, axis: x, edges: true}", "write `cells: own`");
  of_cube("{variable: t, axis: x, levels: 0, cells: own}", "no refinement levels");
}
