// Stream lines of fields whose lines are known; the same bits for every division; where lines end.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <map>

#include "support/fake_domain.hpp"
#include "support/level_cases.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "support/stretched_domain.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double rise = 0.3;

/// Lines are helices about the third axis.
double helix(const std::array<double, 3>& x, const Index3&, int c) { return c == 0 ? -x[1] : c == 1 ? x[0] : rise; }
double wave(const std::array<double, 3>& x, const Index3&, int c) {
  return std::sin(5 * x[0] + c) * std::cos(4 * x[1]) + 0.7 * std::sin(3 * x[2] - x[0]) + (c == 0 ? 0.5 : 0);
}
/// Lines meet in one place.
double sink(const std::array<double, 3>& x, const Index3&, int c) { return 0.05 - x[static_cast<std::size_t>(c)]; }
double height(const std::array<double, 3>& x, const Index3&, int) { return x[2]; }
double holes(const std::array<double, 3>& x, const Index3&, int c) {
  return x[0] > 0.6 ? std::numeric_limits<double>::quiet_NaN() : x[0] < -0.6 ? 0 : c == 0 ? 1 : 0;
}

const std::vector<FakeField> fields{{"helix", helix, Centering::node, 3},   {"cells", helix, Centering::cell, 3},
                                    {"wave", wave, Centering::cell, 3},     {"nodes", wave, Centering::node, 3},
                                    {"height", height, Centering::node, 1}, {"holes", holes, Centering::node, 3},
                                    {"sink", sink, Centering::node, 3}};

const FakeRun how{.ghosts = 1};

Surface lines_of(const FakeDomain& domain, const std::string& options, const Division& division) {
  return run_alone(streamlines_kind(), "{" + options + "}", domain, division, how).surfaces.begin()->second;
}
Surface lines_in_cube(const std::string& options, Index cells = 10) {
  const FakeDomain domain = fake_cube(cells, -1, 1, fields);
  return lines_of(domain, options, even_division(domain.mesh().cells, {2, 1, 2}));
}

const std::vector<double>& array(const Surface& surface, const std::string& name) {
  for (const Surface::Array& one : surface.point_data) {
    if (one.name == name) return one.values;
  }
  FAIL("there is no array " << name);
  throw std::logic_error(name);
}

/// The largest distance from the helix through (radius, 0, 0).
double error_of(const Surface& surface, double radius) {
  const double speed = std::sqrt(radius * radius + rise * rise);
  const std::vector<double>& lengths = array(surface, "arc_length");
  double worst = 0;
  for (std::size_t n = 0; n < surface.points.size(); ++n) {
    const double angle = lengths[n] / speed;
    const std::array<double, 3> there{radius * std::cos(angle), radius * std::sin(angle), rise * angle};
    for (std::size_t a = 0; a < 3; ++a) worst = std::max(worst, std::abs(surface.points[n][a] - there[a]));
  }
  return worst;
}

std::string refusal(const std::string& options) {
  const FakeDomain domain = fake_cube(4, -1, 1, fields);
  return message_of([&] {
    static_cast<void>(streamlines_kind().create(fake_settings(streamlines_kind(), "{" + options + "}", domain.metadata),
                                                domain.metadata));
  });
}

}  // namespace

TEST_CASE("lines are the known ones, to fourth order in the step") {
  const auto of_step = [](double step) {
    return error_of(
        lines_in_cube(fmt::format("variable: helix, point: {{at: [0.5, 0, 0]}}, step: {}, length: 1.6", step)), 0.5);
  };
  const double coarse = of_step(0.2), fine = of_step(0.1);
  CHECK(coarse < 3e-4);
  CHECK(fine > 0);
  CHECK(coarse / fine > 12);
  CHECK(of_step(0.01) < 1e-9);
  // Between centres the field is linear, too, as far as the outermost ones.
  CHECK(error_of(lines_in_cube("variable: cells, point: {at: [0.5, 0, 0]}, step: 0.01, length: 1.6"), 0.5) < 1e-9);
}

TEST_CASE("lines have their seeds, directions and lengths") {
  const Surface both =
      lines_in_cube("variable: helix, point: {at: [0.5, 0, 0]}, step: 0.1, length: 0.45, fields: height");
  REQUIRE(both.points.size() == 9);
  CHECK(both.lines.size() == 8);
  for (std::size_t n = 0; n < 9; ++n) {
    CHECK(array(both, "arc_length")[n] == doctest::Approx(0.1 * (static_cast<double>(n) - 4)));
    CHECK(array(both, "height")[n] == doctest::Approx(both.points[n][2]).epsilon(1e-12));
    CHECK(array(both, "helix")[3 * n] == doctest::Approx(-both.points[n][1]));
    CHECK(array(both, "line")[n] == 0);
  }
  CHECK(both.points[4] == std::array<double, 3>{0.5, 0, 0});
  const std::string one = "variable: helix, point: {at: [0.5, 0, 0]}, step: 0.1, steps: 3, direction: ";
  const Surface forwards = lines_in_cube(one + "forwards"), backwards = lines_in_cube(one + "backwards");
  REQUIRE(forwards.points.size() == 4);
  REQUIRE(backwards.points.size() == 4);
  CHECK(forwards.points[3] == both.points[7]);
  CHECK(backwards.points[0] == both.points[1]);
  CHECK(backwards.points[3] == both.points[4]);
  const Surface many = lines_in_cube(
      "variable: helix, point: [{at: [0.1, 0, 0]}, {at: [0.2, 0, 0]}], line: {from: [0.3, 0, 0], to: [0.5, 0, 0], "
      "samples: 3}, plane: {corner: [0, 0, 0], first: [0.3, 0, 0], second: [0, 0.2, 0], samples: [4, 3]}, steps: 1, "
      "direction: forwards, step: 1e-6");
  REQUIRE(many.points.size() == 2 * (2 + 3 + 12));
  CHECK(array(many, "line").back() == 16);
  CHECK(many.points[2 * 4] == std::array<double, 3>{0.5, 0, 0});
  CHECK(many.points[2 * 16][0] == doctest::Approx(0.3));
  CHECK(many.points[2 * 16][1] == doctest::Approx(0.2));
}

TEST_CASE("lines end where the mesh ends, where the field is zero, and where it has no value") {
  const Surface out = lines_in_cube("variable: helix, point: {at: [0, 0, 0.05]}, step: 0.1");
  REQUIRE(out.points.size() == 20);  // straight up and down, from -0.95 to 0.95
  CHECK(out.points.front()[2] == doctest::Approx(-0.95));
  CHECK(out.points.back()[2] == doctest::Approx(0.95));
  const Surface still = lines_in_cube("variable: holes, point: {at: [0, 0, 0]}, step: 0.1");
  for (const auto& point : still.points) CHECK(std::abs(point[0]) <= 1);
  CHECK(still.points.back()[0] > 0.3);
  CHECK(still.points.back()[0] <= 0.6);
  CHECK(lines_in_cube("variable: helix, point: {at: [3, 0, 0]}").points.empty());
  const Surface met = lines_in_cube("variable: sink, point: {at: [0.8, -0.7, 0.6]}, step: 0.1, direction: forwards");
  CHECK(met.points.size() < 16);
  for (const double x : met.points.back()) CHECK(std::abs(x - 0.05) < 0.1);
  const Surface seeded = lines_in_cube("variable: holes, point: {at: [-0.9, 0, 0]}");
  CHECK(seeded.points.size() == 1);
  CHECK(seeded.lines.empty());
}

TEST_CASE("the same bits however blocks and servers are divided") {
  MpiCommunicator world(test_ranks());
  for (const FakeDomain& domain : {fake_cube(12, -1, 1, fields), stretched_domain(fields)}) {
    const Box& cells = domain.mesh().cells;
    for (const std::string variable : {"wave", "nodes", "helix"}) {
      const std::string yaml =
          "{variable: " + variable +
          ", line: {from: [-0.9, -0.8, -0.7], to: [0.9, 0.7, 0.8], samples: 13}, step: 0.03, steps: "
          "120, fields: [height, wave]}";
      CAPTURE(yaml);
      const Surface alone = run_alone(streamlines_kind(), yaml, domain, {cells}, how).surfaces.begin()->second;
      CHECK(alone.points.size() > 500);
      for (const Division& division : {even_division(cells, {2, 3, 1}), random_division(cells, 9, 5)}) {
        const CapturedResults results = run_analysis(streamlines_kind(), yaml, domain, division, world, how);
        if (world.rank() == 0) CHECK(same_bits(results.surfaces.begin()->second, alone));
      }
    }
  }
}

TEST_CASE("a plane of flow, and a mesh of one cell") {
  const FakeDomain flat(
      {{0, 0, 0}, {8, 8, 1}},
      std::make_shared<UniformGeometry>(std::array<double, 3>{-1, -1, 4}, std::array<double, 3>{0.25, 0.25, 1}),
      {{"turn", helix, Centering::node, 2}}, 2);
  const Surface circle =
      lines_of(flat, "variable: turn, point: {at: [0.5, 0]}, step: 0.05, length: 3.0, direction: forwards",
               even_division(flat.mesh().cells, {2, 2, 1}));
  REQUIRE(circle.points.size() == 61);
  for (const auto& point : circle.points) {
    CHECK(std::hypot(point[0], point[1]) == doctest::Approx(0.5).epsilon(1e-6));
    CHECK(point[2] == 4);
  }
  const Surface one = lines_in_cube("variable: helix, point: {at: [0, 0, 0]}", 1);
  CHECK(one.points.size() >= 2);
}

TEST_CASE("lines cross refinement levels alike however patches are divided") {
  MpiCommunicator self(MPI_COMM_SELF), world(test_ranks());
  PatchWorld patches = patch_world(2);
  for (const bool nodes : {false, true}) {
    patches.nodes = nodes;
    const std::string yaml =
        "{variable: pair, line: {from: [0.05, 0.1], to: [0.95, 0.9], samples: 30}, step: 0.004, steps: 300, file: a.vtp}";
    const Surface alone = run_patches(streamlines_kind(), yaml, patches, self).surfaces.at("a.vtp");
    CHECK(alone.points.size() > 1000);
    const CapturedResults all = run_patches(streamlines_kind(), yaml, patches, world);
    if (world.rank() == 0) CHECK(same_bits(all.surfaces.at("a.vtp"), alone));
  }
}

TEST_CASE("lines in an octree go on from leaf to leaf") {
  MpiCommunicator self(MPI_COMM_SELF), world(test_ranks());
  const TreeWorld ball = ball_world(2, 3, 6);
  const TreeBlocks whole(ball, 1), parts(ball, 7);
  const std::string yaml =
      "{variable: pair, line: {from: [0.02, 0.05], to: [0.9, 0.3], samples: 20}, step: 0.004, file: a.vtp, fields: t}";
  const Surface alone = run_lists(streamlines_kind(), yaml, whole.domain, whole.blocks, self).surfaces.at("a.vtp");
  CHECK(alone.points.size() > 1000);
  const CapturedResults all = run_lists(streamlines_kind(), yaml, parts.domain, parts.blocks, world);
  if (world.rank() == 0) CHECK(same_bits(all.surfaces.at("a.vtp"), alone));
  // The field is (x, 10 times the level) in each leaf.
  const std::vector<double>& field = array(alone, "pair");
  for (const auto& [from, to] : alone.lines) {
    const auto n = static_cast<std::size_t>(from);
    if (field[2 * n] != field[2 * n + 2] || field[2 * n + 1] != field[2 * n + 3]) continue;
    const auto &a = alone.points[n], &b = alone.points[static_cast<std::size_t>(to)];
    const double slope = (b[1] - a[1]) / (b[0] - a[0]);
    if (slope == doctest::Approx(field[2 * n + 1] / field[2 * n])) continue;
    CHECK(std::hypot(b[0] - a[0], b[1] - a[1]) < 0.004);  // a stage of the step was in another leaf
  }
}

TEST_CASE("lines in pictures are the same bytes for every division, and have the colours of their values") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = fake_cube(12, -1, 1, fields);
  const Box& cells = domain.mesh().cells;
  const std::string seeds = "line: {from: [-0.9, -0.8, -0.7], to: [0.9, 0.7, 0.8], samples: 9}, ";
  const std::vector<std::string> scenes{
      "{streamlines: {variable: wave, " + seeds + "colour_by: height}, size: [80, 70]}",
      "{streamlines: [{variable: nodes, " + seeds + "colour: black, width: 2}, {variable: helix, " + seeds +
          "steps: 50}], isosurface: {variable: height, values: [0.2], opacity: 0.5}, camera: {phi: [0, 70], theta: 30}, "
          "file: a.cdb, size: [80, 70]}"};
  for (const std::string& yaml : scenes) {
    CAPTURE(yaml);
    const auto alone = run_alone(render_kind(), yaml, domain, {cells}, how).images;
    for (const Division& division : {even_division(cells, {2, 3, 1}), random_division(cells, 9, 5)}) {
      const CapturedResults results = run_analysis(render_kind(), yaml, domain, division, world, how);
      if (world.rank() != 0) continue;
      REQUIRE(results.images.size() == alone.size());
      for (const auto& [file, image] : alone) CHECK(results.images.at(file).rgba == image.rgba);
    }
  }
  // A line that rises through all values, seen from the front in shades of grey: darker below.
  const Image image =
      run_alone(render_kind(),
                "{streamlines: {variable: helix, point: {at: [0, 0, 0]}, colour_by: height, width: 8}, colours: grey, "
                "range: [-1, 1], outline: false, colour_bar: false, caption: none, background: white, size: [60, 60], "
                "camera: {view: [0, 1, 0], projection: parallel}}",
                domain, {cells}, how)
          .images.begin()
          ->second;
  const auto grey = [&](std::size_t row) { return static_cast<int>(image.rgba[4 * (row * 60 + 30)]); };
  CHECK(grey(10) > grey(30) + 40);
  CHECK(grey(30) > grey(50) + 40);
  CHECK(contains(message_of([&] {
                   static_cast<void>(run_alone(render_kind(), scenes[0], domain, even_division(cells, {2, 1, 1}),
                                               {.ghosts = 1, .partials = 2}));
                 }),
                 "forward: partials"));
}

TEST_CASE("what is wrong is said") {
  CHECK(contains(refusal("variable: height, point: {at: [0, 0, 0]}"), "found 'height' with 1 component"));
  CHECK(contains(refusal("variable: helix"), "found no seeds"));
  CHECK(contains(refusal("variable: helix, point: {at: [0, 0]}"), "found 2 numbers, expected 3"));
  CHECK(contains(refusal("variable: helix, line: {from: [0, 0, 0], to: [1, .nan, 0]}"), "'to'"));
  CHECK(contains(refusal("variable: helix, point: {at: [0, 0, 0]}, step: 0"), "found 0 for 'step'"));
  CHECK(contains(refusal("variable: helix, point: {at: [0, 0, 0]}, length: 0"), "found 0 for 'length'"));
  CHECK(contains(refusal("variable: helix, plane: {corner: [0, 0, 0], first: [1, 0, 0], second: [0, 1, 0], samples: "
                         "[2000, 2000]}"),
                 "more than 1048576 seeds"));
}
