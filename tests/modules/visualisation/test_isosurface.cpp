// Isosurfaces, compared with analytic spheres and a gyroid. They are closed for any values, and have the same bits for
// every division.
#include <doctest/doctest.h>

#include <numbers>

#include "support/fake_domain.hpp"
#include "support/ranks.hpp"
#include "support/surface_checks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double pi = std::numbers::pi;

double ball(const std::array<double, 3>& x, const Index3&, int) {
  return 0.7 - std::sqrt((x[0] - 0.01) * (x[0] - 0.01) + (x[1] + 0.02) * (x[1] + 0.02) + x[2] * x[2]);
}

double gyroid(const std::array<double, 3>& x, const Index3&, int) {
  return std::sin(x[0]) * std::cos(x[1]) + std::sin(x[1]) * std::cos(x[2]) + std::sin(x[2]) * std::cos(x[0]);
}

/// Random whole numbers 0 .. 3, which make every kind of ambiguous and exact case.
double noise(const std::array<double, 3>&, const Index3& p, int) {
  std::uint64_t h = static_cast<std::uint64_t>(p[0] * 73856093 ^ p[1] * 19349663 ^ p[2] * 83492791);
  h = (h ^ h >> 31) * 0x9e3779b97f4a7c15ull;
  return static_cast<double>((h ^ h >> 29) * 0xbf58476d1ce4e5b9ull >> 62);
}

Surface alone(const FakeDomain& domain, const std::string& yaml, const Division& division, const FakeRun& how = {}) {
  return run_alone(isosurface_kind(), yaml, domain, division, how).surfaces.at("isosurface-{index:05}.vtp");
}

const Surface::Array& data(const Surface& s, const std::string& name) {
  for (const Surface::Array& array : s.point_data) {
    if (array.name == name) return array;
  }
  FAIL("no array " << name);
  return s.point_data.front();
}

/// True if every vertex of an open edge lies on the outermost points of the domain.
bool open_at_rim_only(const Surface& s, double low, double high) {
  for (const std::int64_t v : edges_of(s).rim_points) {
    const Vector& x = s.points[v];
    if (std::none_of(x.begin(), x.end(), [&](double c) { return c <= low + 1e-12 || c >= high - 1e-12; })) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a sphere: closed, one part, and area, volume, distance and normals converge") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    double last_area = 1, last_volume = 1, last_normal = 1;
    for (const Index n : {16, 32, 64}) {
      const FakeDomain domain = fake_cube(n, -1, 1, {{"a", ball, centering}});
      const Surface s = alone(domain, "{variable: a, values: 0}", random_division(domain.mesh().cells, 7, 2),
                              {.ghosts = 1, .partials = 2});
      const Edges edges = edges_of(s);
      CHECK(edges.sound);
      CHECK(edges.rim == 0);
      CHECK(euler_characteristic(s) == 2);
      CHECK(parts(s) == 1);
      const double h = 2.0 / static_cast<double>(n);
      double furthest = 0, crooked = 0;
      for (std::size_t v = 0; v < s.points.size(); ++v) {
        const Vector out = minus(s.points[v], {0.01, -0.02, 0});
        furthest = std::max(furthest, std::fabs(norm(out) - 0.7));
        const double* normal = &data(s, "normals").values[3 * v];
        crooked = std::max(crooked, norm(minus({normal[0], normal[1], normal[2]},
                                               {out[0] / norm(out), out[1] / norm(out), out[2] / norm(out)})));
      }
      CHECK(furthest < 0.5 * h * h);
      const double wrong_area = std::fabs(area(s) / (4 * pi * 0.49) - 1);
      const double wrong_volume = std::fabs(volume(s) / (4 * pi * 0.343 / 3) - 1);
      CHECK(wrong_area < 0.35 * last_area);  // second order: a quarter each time
      CHECK(wrong_volume < 0.35 * last_volume);
      CHECK(crooked < 0.4 * last_normal);
      last_area = wrong_area;
      last_volume = wrong_volume;
      last_normal = crooked;
    }
    CHECK(last_area < 1e-3);
    CHECK(last_volume < 1.5e-3);
    CHECK(last_normal < 1e-2);
  }
}

TEST_CASE("a gyroid has triangles on both sides of every edge, but at the rim") {
  const FakeDomain domain = fake_cube(40, 0, 4 * pi, {{"a", gyroid, Centering::node}});
  const Surface s = alone(domain, "{variable: a, values: 0.1}", random_division(domain.mesh().cells, 11, 5));
  CHECK(edges_of(s).sound);
  CHECK(s.triangles.size() > 10000);
  CHECK(open_at_rim_only(s, 0, 4 * pi));
}

TEST_CASE("a periodic gyroid has the Euler characteristic of its genus") {
  // A gyroid has genus 3 in its primitive cell. A lattice of period 2 pi holds two primitive cells, so that chi = -8.
  // Opposite faces are glued by position.
  const Index n = 32;
  const FakeDomain domain = fake_cube(n, 0, 2 * pi, {{"a", gyroid, Centering::node}});
  const Surface s = alone(domain, "{variable: a, values: 0.05}", even_division(domain.mesh().cells, {2, 2, 2}));
  std::map<std::array<std::int64_t, 3>, std::int64_t> glued;
  Surface torus = s;
  torus.points.clear();
  std::vector<std::int64_t> number;
  for (const Vector& x : s.points) {
    std::array<std::int64_t, 3> key;
    for (int a = 0; a < 3; ++a) {
      key[a] = std::llround(x[a] * 1e9);
      if (key[a] >= std::llround(2 * pi * 1e9) - 10) key[a] = 0;
      if (key[a] < 10) key[a] = 0;
      key[a] = (key[a] + 5) / 10;
    }
    const auto [at, fresh] = glued.insert({key, static_cast<std::int64_t>(glued.size())});
    if (fresh) torus.points.push_back(x);
    number.push_back(at->second);
  }
  for (auto& t : torus.triangles) {
    for (auto& v : t) v = number[v];
  }
  CHECK(edges_of(torus).rim == 0);
  CHECK(euler_characteristic(torus) == -8);
}

TEST_CASE("any values at all give a closed surface") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_cube(14, 0, 1, {{"a", noise, centering}});
    const double margin = centering == Centering::cell ? 0.5 / 14 : 0;
    for (const char* value : {"1", "1.5", "2", "3", "0.0001"}) {
      const Surface s = alone(domain, std::string("{variable: a, normals: false, values: ") + value + "}",
                              random_division(domain.mesh().cells, 13, 6));
      CHECK(s.triangles.size() > 1000);
      CHECK(edges_of(s).sound);
      CHECK(open_at_rim_only(s, margin, 1 - margin));
    }
  }
}

TEST_CASE("a level that goes exactly through points encloses what it should") {
  // |x| + |y| + |z| on whole numbers: an octahedron whose faces go through points.
  const FakeDomain domain = fake_cube(
      12, -6, 6,
      {{"a", [](const auto& x, auto&, int) { return 4 - std::fabs(x[0]) - std::fabs(x[1]) - std::fabs(x[2]); },
        Centering::node}});
  const Surface s = alone(domain, "{variable: a, values: 0}", even_division(domain.mesh().cells, {3, 2, 1}));
  CHECK(edges_of(s).sound);
  CHECK(edges_of(s).rim == 0);
  CHECK(euler_characteristic(s) == 2);
  CHECK(volume(s) == doctest::Approx(4.0 / 3 * 64).epsilon(1e-12));
}

TEST_CASE("the same bits for every division and number of servers") {
  MpiCommunicator world(test_ranks());
  const auto other = [](const std::array<double, 3>& x, const Index3&, int c) { return std::exp(x[0]) + c * x[1]; };
  for (const Centering centering : {Centering::cell, Centering::node}) {
    for (const Order order : {Order::column, Order::row}) {
      const FakeDomain domain = fake_cube(13, 0, 2 * pi,
                                          {{"a", gyroid, centering, 1, Type::float32, order},
                                           {"same", other, centering, 3},
                                           {"nodes", other, Centering::node, 2, Type::float64, Order::row},
                                           {"cells", other, Centering::cell}});
      const std::string yaml = "{variable: a, values: [-0.5, 0, 0.5], fields: [same, a, nodes, cells]}";
      const Surface expected = alone(domain, yaml, {domain.mesh().cells});
      REQUIRE(expected.point_data.size() == 6);
      for (unsigned seed = 0; seed < 5; ++seed) {
        const Division division = random_division(domain.mesh().cells, 2 + 7 * seed, seed);
        const auto result = run_analysis(isosurface_kind(), yaml, domain, division, world,
                                         {.ghosts = static_cast<int>(seed % 3), .partials = 1 + seed});
        if (world.rank() == 0) {
          CHECK(same_bits(result.surfaces.at("isosurface-{index:05}.vtp"), expected));
        }
      }
    }
  }
}

TEST_CASE("single precision is double precision, rounded, in files alone") {
  const FakeDomain domain = fake_cube(15, -1, 1, {{"a", ball}, {"b", gyroid, Centering::node}});
  const Division division = random_division(domain.mesh().cells, 6, 3);
  const Surface wide = alone(domain, "{variable: a, values: [0, 0.3], fields: [b], precision: double}", division);
  const Surface narrow = alone(domain, "{variable: a, values: [0, 0.3], fields: [b]}", division, {.partials = 3});
  CHECK(same_bits(wide, narrow));  // the default of tests is double
  const Surface single = alone(domain, "{variable: a, values: [0, 0.3], fields: [b], precision: single}", division);
  CHECK(wide.coordinates == Type::float64);
  CHECK(single.coordinates == Type::float32);
  CHECK(same_bits(single.triangles, wide.triangles));
  CHECK(same_bits(data(single, "b").values, data(wide, "b").values));
  REQUIRE(single.points.size() == wide.points.size());
  for (std::size_t p = 0; p < wide.points.size(); ++p) {
    for (std::size_t a = 0; a < 3; ++a) {
      CHECK(single.points[p][a] == static_cast<double>(static_cast<float>(wide.points[p][a])));
      const double normal = data(wide, "normals").values[3 * p + a];
      CHECK(data(single, "normals").values[3 * p + a] == static_cast<double>(static_cast<float>(normal)));
    }
  }
}

TEST_CASE("fields and values at the vertices") {
  const auto linear = [](const std::array<double, 3>& x, const Index3&, int c) {
    return (c + 1) * x[0] - 2 * x[1] + 0.5 * x[2];
  };
  const FakeDomain domain =
      fake_cube(12, -1, 1, {{"a", ball}, {"cells", linear, Centering::cell, 2}, {"nodes", linear, Centering::node}});
  const Surface s = alone(domain, "{variable: a, values: [0, 0.2], fields: [cells, nodes]}",
                          random_division(domain.mesh().cells, 5, 9));
  std::size_t inner = 0;
  for (std::size_t v = 0; v < s.points.size(); ++v) {
    const double radius = norm(minus(s.points[v], {0.01, -0.02, 0}));
    const double value = data(s, "value").values[v];
    CHECK(std::fabs(radius - (0.7 - value)) < 0.02);
    inner += value == 0.2;
    for (int c = 0; c < 2; ++c) {
      CHECK(std::fabs(data(s, "cells").values[2 * v + static_cast<std::size_t>(c)] - linear(s.points[v], {}, c)) <
            1e-12);
    }
    CHECK(std::fabs(data(s, "nodes").values[v] - linear(s.points[v], {}, 0)) < 1e-12);
  }
  CHECK(inner > 100);
  CHECK(inner < s.points.size());
}

TEST_CASE("a rectilinear mesh with uneven spacing that does not start at 0") {
  std::array<std::vector<double>, 3> nodes;
  for (int n = 0; n <= 40; ++n) {
    for (int a = 0; a < 3; ++a) nodes[a].push_back(std::sinh((n - 20) * 0.05 * (a + 1)) / std::sinh(1.0 * (a + 1)));
  }
  const Index3 first{100, -7, 3};
  const FakeDomain domain({first, {140, 33, 43}}, std::make_shared<RectilinearGeometry>(first, nodes), {{"a", ball}});
  const Surface s = alone(domain, "{variable: a, values: 0}", random_division(domain.mesh().cells, 6, 1));
  CHECK(edges_of(s).rim == 0);
  CHECK(euler_characteristic(s) == 2);
  CHECK(volume(s) == doctest::Approx(4 * pi * 0.343 / 3).epsilon(1e-2));
  for (std::size_t v = 0; v < s.points.size(); ++v) {
    const double* normal = &data(s, "normals").values[3 * v];
    CHECK(dot({normal[0], normal[1], normal[2]}, minus(s.points[v], {0.01, -0.02, 0})) > 0.6);
  }
}

TEST_CASE("cells with NaN, infinities or undelivered corners are left out, and only they are") {
  const FakeDomain whole = fake_cube(20, -1, 1, {{"a", ball}});
  const auto holed = [](const std::array<double, 3>& x, const Index3& p, int c) {
    if (p == Index3{16, 9, 9}) return std::nan("");
    if (p == Index3{9, 16, 9}) return std::numeric_limits<double>::infinity();
    return ball(x, p, c);
  };
  const FakeDomain holes = fake_cube(20, -1, 1, {{"a", holed}});
  const std::string yaml = "{variable: a, values: 0}";
  const Surface full = alone(whole, yaml, {whole.mesh().cells});
  const Surface with_holes = alone(holes, yaml, random_division(holes.mesh().cells, 9, 1));
  CHECK(with_holes.triangles.size() < full.triangles.size());
  CHECK(with_holes.triangles.size() > full.triangles.size() - 60);
  CHECK(edges_of(with_holes).sound);
  CHECK(edges_of(with_holes).rim > 0);
  for (const double n : data(with_holes, "normals").values) CHECK(std::isfinite(n));
  const Surface half = alone(whole, yaml, even_division(whole.mesh().cells, {2, 1, 1}), {.absent = {1}});
  CHECK(half.triangles.size() < 0.55 * full.triangles.size());
  CHECK(half.triangles.size() > 0.4 * full.triangles.size());
  for (const Vector& x : half.points) CHECK(x[0] < 0);
}

TEST_CASE("nothing to see: constant field, value out of range, one cell, no block") {
  const FakeDomain constant = fake_cube(5, 0, 1, {{"a", [](auto&, auto&, int) { return 2.0; }}});
  for (const char* value : {"1", "2", "3"}) {
    const Surface s = alone(constant, std::string("{variable: a, values: ") + value + "}", {constant.mesh().cells});
    CHECK(s.points.empty());
    CHECK(s.triangles.empty());
    CHECK(s.point_data.size() == 2);
  }
  const FakeDomain tiny = fake_cube(1, 0, 1, {{"a", ball}});
  CHECK(alone(tiny, "{variable: a, values: 0}", {tiny.mesh().cells}).triangles.empty());
  const FakeDomain one = fake_cube(1, 0, 1, {{"a", ball, Centering::node}});
  CHECK(alone(one, "{variable: a, values: 0}", {one.mesh().cells}).triangles.size() >= 1);
  CHECK(alone(one, "{variable: a, values: 0}", {one.mesh().cells}, {.absent = {0}}).triangles.empty());
}

TEST_CASE("what cannot be contoured is refused in a sentence") {
  class Twisted final : public Geometry {
    std::string kind() const override { return "curvilinear"; }
  };
  const FakeDomain twisted({{0, 0, 0}, {4, 4, 4}}, std::make_shared<Twisted>(), {{"a", ball}});
  CHECK_THROWS_WITH_AS(alone(twisted, "{variable: a, values: 0}", {twisted.mesh().cells}),
                       doctest::Contains("'grid' of type 'curvilinear'"), Error);
  FakeDomain two = fake_cube(4, 0, 1, {{"a", ball}, {"b", ball}});
  two.metadata.meshes.push_back(two.metadata.meshes[0]);
  two.metadata.meshes[1].id = 1;
  two.metadata.meshes[1].name = "other";
  two.metadata.variables[1].mesh = 1;
  CHECK_THROWS_WITH_AS(alone(two, "{variable: a, values: 0, fields: b}", {two.mesh().cells}),
                       doctest::Contains("'b' lies on mesh 'other', but 'a' on 'grid'"), Error);
}
