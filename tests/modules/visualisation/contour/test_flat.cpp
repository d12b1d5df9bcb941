// Meshes of two dimensions: contour lines, cuts, slices in their own plane, and pictures of them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <numbers>

#include "sidestream/error.hpp"
#include "support/fake_domain.hpp"
#include "support/ranks.hpp"
#include "support/surface_checks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double linear(const std::array<double, 3>& x, const Index3&, int c) { return (c + 1) * x[0] - 2 * x[1] + 3; }
double radius(const std::array<double, 3>& x, const Index3&, int) { return std::sqrt(x[0] * x[0] + x[1] * x[1]); }

Surface surface_of(const CapturedResults& results) {
  REQUIRE(results.surfaces.size() == 1);
  return results.surfaces.begin()->second;
}

double length_of(const Surface& s) {
  double sum = 0;
  for (const auto& [a, b] : s.lines) sum += norm(minus(s.points[b], s.points[a]));
  return sum;
}

/// The divisions for which every result must be the same.
std::vector<Division> divisions(const Box& cells) {
  return {{cells}, even_division(cells, {3, 2, 1}), even_division(cells, {1, 5, 1}), random_division(cells, 9, 3)};
}

}  // namespace

TEST_CASE("a contour line closes, goes round its higher values, and is where the field has the value") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_square(64, -1, 1, {{"r", radius, centering}, {"a", linear, Centering::node}});
    for (const Division& division : divisions(domain.mesh().cells)) {
      const Surface s = surface_of(run_alone(isosurface_kind(), "{variable: r, values: [0.5, 0.8], fields: [a]}",
                                             domain, division, {.ghosts = 1, .partials = 2}));
      CHECK(s.triangles.empty());
      CHECK(length_of(s) == doctest::Approx(2 * std::numbers::pi * 1.3).epsilon(0.002));
      std::map<std::int64_t, int> starts, ends;
      double inside = 0;  // by Green's theorem, positive if counter-clockwise
      for (const auto& [a, b] : s.lines) {
        ++starts[a];
        ++ends[b];
        inside += 0.5 * (s.points[a][0] * s.points[b][1] - s.points[a][1] * s.points[b][0]);
      }
      CHECK(starts.size() == s.points.size());
      CHECK(starts == ends);
      // Lower values, in the middle, are on the right: both lines run clockwise.
      CHECK(inside == doctest::Approx(-std::numbers::pi * (0.25 + 0.64)).epsilon(0.003));
      REQUIRE(s.point_data.size() == 2);
      for (std::size_t p = 0; p < s.points.size(); ++p) {
        CHECK(s.points[p][2] == -1);
        CHECK(norm({s.points[p][0], s.points[p][1], 0}) == doctest::Approx(s.point_data[1].values[p]).epsilon(0.002));
        CHECK(s.point_data[0].values[p] == doctest::Approx(linear(s.points[p], {}, 0)));
      }
    }
  }
}

TEST_CASE("a cut is a line with the variables on it, and reaches the faces") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_square(16, -1, 1, {{"a", linear, centering, 2}});
    for (const double position : {-1.0, -0.3, 0.0, 0.125, 1.0}) {
      const Surface s =
          surface_of(run_alone(slice_kind(), fmt::format("{{variable: a, axis: x, position: {}}}", position), domain,
                               random_division(domain.mesh().cells, 9, 3)));
      CHECK(s.triangles.empty());
      CHECK(length_of(s) == doctest::Approx(2));
      for (std::size_t p = 0; p < s.points.size(); ++p) {
        CHECK(std::fabs(s.points[p][0] - position) < 1e-15);
        if (std::fabs(position) == 1 || std::fabs(s.points[p][1]) > 0.93) continue;
        CHECK(s.point_data[0].values[2 * p + 1] == doctest::Approx(linear(s.points[p], {}, 1)));
      }
    }
    const Surface slanted = surface_of(run_alone(
        slice_kind(), "{variable: a, normal: [1, -1, 0.5], origin: [0, 0, -1]}", domain, {domain.mesh().cells}));
    CHECK(length_of(slanted) == doctest::Approx(std::sqrt(8.0)));
  }
}

TEST_CASE("along z it is drawn as the plane it is") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_square(16, -1, 1, {{"a", linear, centering}});
    for (const Division& division : divisions(domain.mesh().cells)) {
      const Surface s =
          surface_of(run_alone(slice_kind(), "{variable: a, axis: z}", domain, division, {.ghosts = 1, .partials = 2}));
      CHECK(s.lines.empty());
      CHECK(area(s) == doctest::Approx(4));
      CHECK(edges_of(s).sound);
      CHECK(parts(s) == 1);
      for (std::size_t t = 0; t < s.triangles.size(); ++t) CHECK(spanned(s, t)[2] > 0);
      for (std::size_t p = 0; p < s.points.size(); ++p) {
        const Vector& x = s.points[p];
        CHECK(x[2] == -1);
        if (std::fabs(x[0]) < 0.95 && std::fabs(x[1]) < 0.95) {
          CHECK(s.point_data[0].values[p] == doctest::Approx(linear(x, {}, 0)));
        }
      }
    }
    const Surface below =
        surface_of(run_alone(slice_kind(), "{variable: a, normal: [0, 0, -1]}", domain, {domain.mesh().cells}));
    CHECK(spanned(below, 0)[2] < 0);
  }
}

TEST_CASE("the same bytes for every division, on every number of servers") {
  MpiCommunicator world(test_ranks());
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_square(24, -1, 1, {{"r", radius, centering}, {"a", linear, Centering::cell}});
    const std::string scene =
        "{slice: {variable: a, axis: z}, isosurface: {variable: r, values: [0.3, 0.8]}, size: [90, 70]}";
    const std::pair<AnalysisKind, std::string> all[] = {
        {isosurface_kind(), "{variable: r, values: [0.3, 0.8], fields: [a]}"},
        {slice_kind(), "{variable: r, axis: y, position: 0.1, fields: [a]}"},
        {slice_kind(), "{variable: r, axis: z, fields: [a]}"},
        {render_kind(), scene},
    };
    for (const auto& [kind, yaml] : all) {
      const CapturedResults reference = run_alone(kind, yaml, domain, {domain.mesh().cells});
      for (const Division& division : divisions(domain.mesh().cells)) {
        const CapturedResults made = run_analysis(kind, yaml, domain, division, world, {.ghosts = 1, .partials = 2});
        if (world.rank() != 0) continue;
        for (const auto& [name, surface] : reference.surfaces) CHECK(same_bits(surface, made.surfaces.at(name)));
        for (const auto& [name, image] : reference.images) CHECK(image.rgba == made.images.at(name).rgba);
      }
    }
  }
}

TEST_CASE("cells without a value have no line") {
  const FakeDomain domain = fake_square(8, -1, 1,
                                        {{"a",
                                          [](const std::array<double, 3>& x, const Index3& p, int) {
                                            return p[0] == 4 && p[1] == 4 ? std::nan("") : x[0];
                                          },
                                          Centering::node}});
  const Surface s =
      surface_of(run_alone(isosurface_kind(), "{variable: a, values: 0.1}", domain, {domain.mesh().cells}));
  CHECK(length_of(s) == doctest::Approx(2 - 2 * 0.25));
}

TEST_CASE("a mesh of one dimension is refused, with what to use instead") {
  const FakeDomain domain({{0, 0, 0}, {8, 1, 1}},
                          std::make_shared<UniformGeometry>(std::array{0., 0., 0.}, std::array{1., 1., 1.}),
                          {{"a", linear}}, 1);
  const std::pair<AnalysisKind, std::string> all[] = {{isosurface_kind(), "{variable: a, values: 1}"},
                                                      {slice_kind(), "{variable: a, axis: x}"},
                                                      {render_kind(), "{slice: {variable: a, axis: x}}"}};
  for (const auto& [kind, yaml] : all) {
    CHECK_THROWS_WITH_AS(run_alone(kind, yaml, domain, {domain.mesh().cells}), doctest::Contains("one dimension; a"),
                         const Error&);
    CHECK_THROWS_WITH_AS(run_alone(kind, yaml, domain, {domain.mesh().cells}), doctest::Contains("`outputs`"),
                         const Error&);
  }
}
