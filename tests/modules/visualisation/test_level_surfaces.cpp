// Isosurfaces in trees and in patches on refinement levels. They are closed across borders of levels and of blocks. If
// there is only one level, they are the surface of a mesh without levels.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "modules/visualisation/level_surfaces.hpp"
#include "support/message_of.hpp"
#include "support/surface_checks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double pi = 3.14159265358979323846;

/// True if triangles pass every edge as often in one direction as in the other.
bool is_closed(const Surface& s) {
  std::map<std::pair<std::int64_t, std::int64_t>, int> passed;
  for (const auto& t : s.triangles) {
    for (std::size_t v = 0; v < 3; ++v) {
      const std::int64_t a = t[v], b = t[(v + 1) % 3];
      passed[std::minmax(a, b)] += a < b ? 1 : -1;
    }
  }
  return std::all_of(passed.begin(), passed.end(), [](const auto& edge) { return edge.second == 0; });
}

/// True if as many lines begin as end at each point.
bool is_closed_line(const Surface& s) {
  std::map<std::int64_t, int> ends;
  for (const auto& line : s.lines) ++ends[line[0]], --ends[line[1]];
  return std::all_of(ends.begin(), ends.end(), [](const auto& point) { return point.second == 0; });
}

double length(const Surface& s) {
  double sum = 0;
  for (const auto& [a, b] : s.lines)
    sum += norm(minus(s.points[static_cast<std::size_t>(b)], s.points[static_cast<std::size_t>(a)]));
  return sum;
}

}  // namespace

TEST_CASE("surfaces of random values in random trees are closed, whatever levels meet") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const TreeWorld world = random_world(3, seed, 2 + static_cast<std::int32_t>(seed % 4));
    const Surface s = alone(world, 1 + seed % 4, "{variable: t, values: [0.5]}", 2);
    CHECK(s.triangles.size() > 100);
    CHECK(is_closed(s));
    CHECK(volume(s) > 0);
  }
}

TEST_CASE("lines of random values in random trees are closed") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const TreeWorld world = random_world(2, seed, 3 + static_cast<std::int32_t>(seed % 4));
    const Surface s = alone(world, 1 + seed % 4, "{variable: t, values: [0.5]}", 2);
    CHECK(s.lines.size() > 20);
    CHECK(is_closed_line(s));
  }
}

TEST_CASE(
    "a ball, one half of whose surface is four times as fine: area, volume, one closed surface without double layers") {
  const TreeWorld world = ball_world(3, 4, 6);
  const Surface s = alone(world, 3, "{variable: t, values: [0]}");
  const Edges edges = edges_of(s);
  CHECK(edges.sound);
  CHECK(edges.rim == 0);
  CHECK(parts(s) == 1);
  CHECK(euler_characteristic(s) == 2);
  CHECK(area(s) == doctest::Approx(4 * pi * 0.09).epsilon(0.02));
  CHECK(volume(s) == doctest::Approx(4 * pi * 0.027 / 3).epsilon(0.02));
  for (const Vector& x : s.points) {  // within a fraction of a fine cell of the sphere
    CHECK(std::abs(norm(minus(x, {0.5, 0.5, 0.5})) - 0.3) < 0.3 / 16);
  }
}

TEST_CASE("a circle in a quadtree") {
  const Surface s = alone(ball_world(2, 4, 7), 3, "{variable: t, values: [0]}");
  CHECK(is_closed_line(s));
  CHECK(length(s) == doctest::Approx(2 * pi * 0.3).epsilon(0.01));
}

TEST_CASE("a plane through all levels is flat, whole and only open at the faces of the mesh") {
  TreeWorld world = random_world(3, 5, 5);
  world.value = [](const TreeCell&, const std::array<double, 3>& x) { return x[0] - 0.3 * x[1] + 0.2 * x[2]; };
  const Surface s = alone(world, 4, "{variable: t, values: [2.1]}");
  REQUIRE(s.triangles.size() > 50);
  const Edges edges = edges_of(s);
  CHECK(edges.sound);
  for (const Vector& x : s.points) CHECK(x[0] - 0.3 * x[1] + 0.2 * x[2] == doctest::Approx(2.1).epsilon(1e-12));
  for (const std::int64_t p : edges.rim_points) {
    const Vector& x = s.points[static_cast<std::size_t>(p)];
    double nearest = 1;  // distance to a face, in root cells
    for (std::size_t a = 0; a < 3; ++a) {
      const double along = (x[a] - world.origin[a]) / world.spacing[a];
      nearest = std::min({nearest, along, static_cast<double>(world.roots[a]) - along});
    }
    CHECK(nearest <= 0.5 + 1e-12);
  }
}

TEST_CASE("a tree of one level has the surface of a mesh without levels") {
  TreeWorld world = ball_world(3, 4, 4);
  const Surface tree = alone(world, 3, "{variable: t, values: [0, 0.1], fields: [pair]}");
  const FakeDomain mesh = fake_cube(
      16, 0, 1,
      {{"t", [&](const auto& x, const Index3&, int) { return world.value({}, x); }},
       {"pair", [](const auto& x, const Index3&, int c) { return c == 0 ? x[0] : 40.0; }, Centering::cell, 2}});
  const Surface uniform = run_alone(isosurface_kind(), "{variable: t, values: [0, 0.1], fields: [pair]}", mesh,
                                    even_division(mesh.mesh().cells, {1, 1, 1}))
                              .surfaces.begin()
                              ->second;
  CHECK(tree.triangles.size() == uniform.triangles.size());
  auto a = tree.points, b = uniform.points;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  CHECK(a == b);
  CHECK(area(tree) == doctest::Approx(area(uniform)));
  CHECK(volume(tree) == doctest::Approx(volume(uniform)));
  REQUIRE(tree.point_data.at(0).name == "pair");
  for (std::size_t p = 0; p < tree.points.size(); ++p) {
    CHECK(tree.point_data[0].values[2 * p] == doctest::Approx(tree.points[p][0]));
    CHECK(tree.point_data[0].values[2 * p + 1] == 40);
  }
}

TEST_CASE("the surface lies within a cell of that of the tree's values on a uniform mesh of the finest level") {
  const TreeWorld world = ball_world(3, 3, 5);
  const Surface tree = alone(world, 3, "{variable: t, values: [0]}");
  const auto leaf_at = [&](const std::array<double, 3>& x) {
    TreeCell cell{0, {0, 0, 0}};
    while (world.refined(cell)) {
      ++cell.level;
      for (std::size_t a = 0; a < 3; ++a) cell.index[a] = static_cast<Index>(x[a] * std::exp2(cell.level));
    }
    return cell;
  };
  const auto resampled = [&](const auto& x, const Index3&, int) {
    const TreeCell cell = leaf_at(x);
    return world.value(cell, world.centre(cell));
  };
  const FakeDomain mesh = fake_cube(32, 0, 1, {{"t", resampled}});
  const Division one{mesh.mesh().cells};
  const Surface uniform =
      run_alone(isosurface_kind(), "{variable: t, values: [0]}", mesh, one).surfaces.begin()->second;
  const auto within = [&](const Surface& some, const Surface& others) {  // within the size of the cell there
    double worst = 0;
    for (const Vector& x : some.points) {
      double nearest = 1;
      for (const Vector& y : others.points) nearest = std::min(nearest, norm(minus(x, y)));
      worst = std::max(worst, nearest * std::exp2(leaf_at(x).level));
    }
    return worst;
  };
  REQUIRE(uniform.points.size() > 500);
  CHECK(within(tree, uniform) < 1);
  CHECK(within(uniform, tree) < 1);
}

TEST_CASE("a tree that is one cell, and trees without a leaf, have no surface") {
  TreeWorld world = random_world(3, 1, 0);
  world.roots = {1, 1, 1};
  CHECK(alone(world, 1, "{variable: t, values: [0.5]}").points.empty());
  world.owner = [](const TreeCell&, std::size_t) { return std::size_t{9}; };
  CHECK(alone(world, 2, "{variable: t, values: [0.5]}").points.empty());
}

TEST_CASE("a tree far deeper than its neighbours, and deeper than names can count") {
  for (const int dimensions : {2, 3}) {
    TreeWorld world;
    world.dimensions = dimensions;
    world.roots = {2, 2, dimensions == 3 ? 2 : 1};
    world.refined = [](const TreeCell& c) {  // towards the middle of the mesh, on one side
      const Index middle = Index{1} << c.level;
      for (const Index i : c.index) {
        if (i != middle - 1 && i != 0) return false;
      }
      return c.level < 32 && c.index[0] == middle - 1 && c.index[1] == middle - 1;
    };
    world.value = [](const TreeCell& c, const std::array<double, 3>&) { return c.level % 2 == 0 ? 1.0 : 0.0; };
    world.owner = scattered;
    const Surface one = alone(world, 1, "{variable: t, values: [0.5]}");
    CHECK(one.points.size() > 60);
    for (const Vector& x : one.points) CHECK(std::isfinite(x[0] + x[1] + x[2]));
    CHECK(same_bits(alone(world, 5, "{variable: t, values: [0.5]}", 2), one));
  }
}

TEST_CASE("next to cells whose value is NaN or infinite there is no surface, and nothing in it is NaN") {
  TreeWorld world = random_world(3, 8, 3);
  const auto value = world.value;
  world.value = [=](const TreeCell& c, const std::array<double, 3>& x) {
    if (random_of(c, 31) < 0.02) return std::numeric_limits<double>::quiet_NaN();
    return random_of(c, 32) < 0.02 ? std::numeric_limits<double>::infinity() : value(c, x);
  };
  const Surface s = alone(world, 3, "{variable: t, values: [0.5], fields: [t]}");
  CHECK(s.points.size() > 50);
  CHECK(edges_of(s).rim > 0);
  for (const Vector& x : s.points) CHECK(std::isfinite(x[0] + x[1] + x[2]));
  for (const double t : s.point_data.at(0).values) CHECK(t == doctest::Approx(0.5));
}

TEST_CASE("surfaces in patches are closed over borders of levels of any ratio") {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Surface s = alone(random_patches(3, seed), "{variable: t, values: [0.5]}", 2);
    CHECK(s.triangles.size() > 1000);
    CHECK(is_closed(s));
    const Surface lines = alone(random_patches(2, seed), "{variable: t, values: [0.5]}", 2);
    CHECK(lines.lines.size() > 100);
    CHECK(is_closed_line(lines));
  }
}

TEST_CASE("a ball in patches") {
  const Surface s = alone(patch_world(3), "{variable: t, values: [0], fields: [pair]}");
  const Edges edges = edges_of(s);
  CHECK(edges.sound);
  CHECK(edges.rim == 0);
  CHECK(parts(s) == 1);
  CHECK(euler_characteristic(s) == 2);
  CHECK(area(s) == doctest::Approx(4 * pi * 0.09).epsilon(0.03));
  CHECK(volume(s) == doctest::Approx(4 * pi * 0.027 / 3).epsilon(0.04));
  for (std::size_t p = 0; p < s.points.size(); ++p) {
    CHECK(s.point_data.at(0).values[2 * p] == doctest::Approx(s.points[p][0]));
  }
  const Surface circle = alone(patch_world(2), "{variable: t, values: [0]}");
  CHECK(is_closed_line(circle));
  CHECK(length(circle) == doctest::Approx(2 * pi * 0.3).epsilon(0.02));
}

TEST_CASE("what is not had of levels is refused with a sentence") {
  PatchWorld world = patch_world(3);
  Metadata metadata = world.metadata();
  metadata.variables[1].centering = Centering::x_face;
  const AnalysisKind kind = isosurface_kind();
  const auto refused = [&](const std::string& yaml) {
    return message_of([&] { kind.create(fake_settings(kind, yaml, metadata), metadata); });
  };
  const std::string only = "known for variables in cells and at nodes only";
  CHECK(refused("{variable: pair, component: 0, values: 1}").find(only) != std::string::npos);
  CHECK(refused("{variable: t, values: 1, fields: [pair]}").find(only) != std::string::npos);
  const AnalysisKind picture = render_kind();
  const std::string render = "{isosurface: {variable: t, values: 1, colour_by: pair, colour_component: 1}}";
  CHECK(message_of([&] {
          picture.create(fake_settings(picture, render, metadata), metadata);
        }).find("run through the centres of cells") != std::string::npos);
  metadata.meshes[0].geometry = std::make_shared<ArrayGeometry>(MeshKind::curvilinear);
  CHECK(refused("{variable: t, values: 1}").find("uniform mesh or an octree") != std::string::npos);
}
