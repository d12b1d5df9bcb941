// Slices of linear fields, which interpolation gives exactly, and the areas of sections through a cube.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/fake_domain.hpp"
#include "support/ranks.hpp"
#include "support/surface_checks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double linear(const std::array<double, 3>& x, const Index3&, int c) { return (c + 1) * x[0] - 2 * x[1] + 0.5 * x[2]; }

Surface alone(const FakeDomain& domain, const std::string& yaml, const Division& division, const FakeRun& how = {}) {
  return run_alone(slice_kind(), yaml, domain, division, how).surfaces.at("slice-{index:05}.vtp");
}

/// Checks that every edge has at most two triangles, and that open edges lie on the faces of the cube. All triangles
/// must have an area and face `normal`.
void check_layer(const Surface& s, double low, double high, const Vector& normal) {
  const Edges edges = edges_of(s);
  CHECK(edges.sound);
  bool at_faces = true, facing = true;
  for (const std::int64_t v : edges.rim_points) {
    const Vector& x = s.points[v];
    at_faces = at_faces && std::any_of(x.begin(), x.end(), [&](double c) { return c == low || c == high; });
  }
  for (std::size_t t = 0; t < s.triangles.size(); ++t) facing = facing && dot(spanned(s, t), normal) > 0;
  CHECK(at_faces);
  CHECK(facing);
}

}  // namespace

TEST_CASE("a plane across an axis covers the mesh once, inside, at inner faces and at both outer faces") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_cube(8, -1, 1, {{"a", linear, centering}});
    const Division division = random_division(domain.mesh().cells, 9, 3);
    for (int axis = 0; axis < 3; ++axis) {
      for (const double position : {-1.0, -0.875, -0.3, 0.0, 0.125, 0.25, 0.999, 1.0}) {
        const Surface s = alone(domain, fmt::format("{{variable: a, axis: {}, position: {}}}", "xyz"[axis], position),
                                division, {.ghosts = 1, .partials = 2});
        Vector normal{};
        normal[axis] = 1;
        check_layer(s, -1, 1, normal);
        CHECK(area(s) == doctest::Approx(4).epsilon(1e-12));
        for (const Vector& x : s.points) CHECK(std::fabs(x[axis] - position) < 1e-15);
      }
    }
  }
}

TEST_CASE("a position that is a rounding error outside means the face") {
  // The product 0.1 * 3 is not 0.3.
  const FakeDomain domain({{0, 0, 0}, {3, 3, 3}},
                          std::make_shared<UniformGeometry>(std::array{0., 0., 0.}, std::array{0.1, 0.1, 0.1}),
                          {{"a", linear}});
  for (const char* where :
       {"{variable: a, axis: x, position: 0.3}", "{variable: a, axis: x, position: 0.30000000000001}",
        "{variable: a, normal: [-2, 0, 0], origin: [0.3, 5, 5]}"}) {
    CHECK(area(alone(domain, where, {domain.mesh().cells})) == doctest::Approx(0.09));
  }
}

TEST_CASE("linear fields are met exactly on node-centred variables, and between cell centres") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_cube(
        10, -1, 1, {{"a", linear, centering, 3}, {"n", linear, Centering::node}, {"c", linear, Centering::cell}});
    const Surface s = alone(domain, "{variable: a, fields: [n, c], normal: [1, 2, -0.7], origin: [0.1, 0.05, 0]}",
                            random_division(domain.mesh().cells, 8, 2));
    REQUIRE(s.point_data.size() == 3);
    check_layer(s, -1, 1, {1, 2, -0.7});
    std::size_t inside = 0;
    for (std::size_t v = 0; v < s.points.size(); ++v) {
      const Vector& x = s.points[v];
      CHECK(std::fabs(dot({1, 2, -0.7}, minus(x, {0.1, 0.05, 0}))) < 1e-14);
      // Averaging and the constant continuation are exact away from the outermost points.
      if (std::any_of(x.begin(), x.end(), [](double c) { return std::fabs(c) > 0.8; })) continue;
      ++inside;
      for (int c = 0; c < 3; ++c) {
        CHECK(std::fabs(s.point_data[0].values[3 * v + static_cast<std::size_t>(c)] - linear(x, {}, c)) < 1e-13);
      }
      for (std::size_t f : {1u, 2u}) CHECK(std::fabs(s.point_data[f].values[v] - linear(x, {}, 0)) < 1e-13);
    }
    CHECK(inside > 100);
  }
}

TEST_CASE("cell values continue to the faces") {
  const FakeDomain domain = fake_cube(4, 0, 4, {{"a", [](const auto& x, auto&, int) { return x[2]; }}});
  for (const auto& [position, value] : std::vector<std::pair<double, double>>{
           {0, 0.5}, {0.25, 0.5}, {0.5, 0.5}, {1, 1}, {3.5, 3.5}, {3.75, 3.5}, {4, 3.5}}) {
    const Surface s = alone(domain, fmt::format("{{variable: a, axis: z, position: {}}}", position),
                            even_division(domain.mesh().cells, {2, 1, 2}));
    CHECK(area(s) == doctest::Approx(16));
    for (const double v : s.point_data[0].values) CHECK(v == doctest::Approx(value).epsilon(1e-14));
  }
}

TEST_CASE("sections through a cube have the area they should") {
  struct Section {
    const char* plane;
    double area;
    Vector normal;
  };
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_cube(7, 0, 1, {{"a", linear, centering}});
    for (const Section& section :
         {Section{"normal: [1, 1, 1]", 3 * std::sqrt(3) / 4, {1, 1, 1}},  // a regular hexagon
          Section{"normal: [1, -1, 0]", std::sqrt(2), {1, -1, 0}},        // through points everywhere
          Section{"normal: [-1, -1, -1], origin: [0, 0, 1]", std::sqrt(3) / 2, {-1, -1, -1}},
          Section{"normal: [0, 0.6, 0.8], origin: [0.5, 0.5, 0.5]", 1.25, {0, 0.6, 0.8}}}) {
      const Surface s = alone(domain, std::string("{variable: a, ") + section.plane + "}",
                              random_division(domain.mesh().cells, 10, 7));
      CHECK(area(s) == doctest::Approx(section.area).epsilon(1e-12));
      check_layer(s, 0, 1, section.normal);
      CHECK(euler_characteristic(s) == 1);  // a disc
    }
  }
}

TEST_CASE("the same bits for every division and number of servers") {
  MpiCommunicator world(test_ranks());
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_cube(9, 0, 3,
                                        {{"a", linear, centering, 2, Type::float32},
                                         {"n", linear, Centering::node},
                                         {"c", linear, Centering::cell, 1, Type::float64, Order::row}});
    for (const char* plane : {"axis: y", "axis: x, position: 0", "axis: z, position: 1", "normal: [1, 1, 0]",
                              "normal: [0.3, -1, 0.77], origin: [1, 1.1, 1.7]"}) {
      const std::string yaml = std::string("{variable: a, fields: [n, c], ") + plane + "}";
      const Surface expected = alone(domain, yaml, {domain.mesh().cells});
      REQUIRE(expected.triangles.size() > 50);
      for (unsigned seed = 0; seed < 4; ++seed) {
        const Division division = random_division(domain.mesh().cells, 2 + 6 * seed, seed);
        const auto result = run_analysis(slice_kind(), yaml, domain, division, world,
                                         {.ghosts = static_cast<int>(seed % 3), .partials = 1 + seed});
        if (world.rank() == 0) CHECK(same_bits(result.surfaces.at("slice-{index:05}.vtp"), expected));
      }
    }
  }
}

TEST_CASE("a block that was not delivered leaves a hole or NaN, the rest stays") {
  const FakeDomain domain = fake_cube(8, 0, 1, {{"a", linear}});
  const Surface s =
      alone(domain, "{variable: a, axis: z}", even_division(domain.mesh().cells, {2, 1, 1}), {.absent = {0}});
  CHECK(area(s) == doctest::Approx(0.4375));
  for (const double v : s.point_data[0].values) CHECK(std::isfinite(v));
}

TEST_CASE("one cell is enough") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_cube(1, 0, 1, {{"a", linear, centering}});
    CHECK(area(alone(domain, "{variable: a, normal: [1, 0, 1]}", {domain.mesh().cells})) ==
          doctest::Approx(std::sqrt(2)));
  }
}

TEST_CASE("planes that cannot be meant are refused in a sentence") {
  const FakeDomain domain = fake_cube(4, 0, 1, {{"a", linear}});
  const auto refused = [&](const std::string& plane, const char* message) {
    CHECK_THROWS_WITH_AS(alone(domain, "{variable: a, " + plane + "}", {domain.mesh().cells}),
                         doctest::Contains(message), Error);
  };
  refused("axis: z, position: 2", "does not meet mesh 'grid', which spans x 0 to 1, y 0 to 1 and z 0 to 1");
  refused("normal: [1, 1, 1], origin: [2, 2, 2]", "does not meet mesh 'grid'");
  refused("normal: [0, 0, 0]", "the normal has no direction");
  refused("axis: z, normal: [0, 0, 1]", "`normal` does not go with `axis`");
  refused("position: 1, normal: [0, 0, 1]", "`position` needs `axis: x`");
  refused("origin: [0, 0, 0]", "the plane's direction is missing");
  refused("axis: z, fields: a", "'a' is the slice's `variable` already");
}
