// Stream lines on curvilinear and unstructured meshes: those that are known, and the same bits for every division.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "support/fake_lists.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

using Flow = std::function<Place(const Place&)>;

Place rotation(const Place& x) { return {-x[1], x[0], 0}; }
Place saddle(const Place& x) { return {x[0], -x[1], 0}; }
Place uniform(const Place&) { return {1, 0, 0}; }
/// Straight lines along faces of an even grid; cells on both sides of a face have different values.
Place along(const Place& x) { return {1 + 0.3 * std::sin(3 * x[1]) + 0.2 * x[2], 0, 0}; }
Place wave(const Place& x) {
  return {std::sin(5 * x[0]) * std::cos(4 * x[1]) + 0.5, std::sin(4 * x[1] + x[2]), 0.7 * std::sin(3 * x[2] - x[0])};
}

/// Node p of a grid from -1 to 1, turned about the third axis by an angle that rises with height, and bent.
Place twisted(const Index3& p, const Index3& cells, double twist) {
  Place x{};
  for (std::size_t a = 0; a < 3; ++a) x[a] = -1 + 2 * static_cast<double>(p[a]) / static_cast<double>(cells[a]);
  if (twist == 0) return x;
  const double angle = twist * (1 + x[2] + 0.3 * x[0]), c = std::cos(angle), s = std::sin(angle);
  return {c * x[0] - s * x[1], s * x[0] + c * x[1], x[2] + 0.1 * twist * std::sin(2 * x[0] + x[1])};
}

/// A curvilinear mesh with a flow at nodes, `v`, and in cells, `w`.
FakeDomain curved(const Index3& size, int dimensions, double twist, const Flow& flow) {
  const auto at = [size, dimensions, twist](const Index3& p) {
    Place x = twisted(p, size, twist);
    for (auto a = static_cast<std::size_t>(dimensions); a < 3; ++a) x[a] = 0;
    return x;
  };
  const auto middle = [at, dimensions](const Index3& p) {
    Place x{};
    for (int c = 0; c < 1 << dimensions; ++c) {
      const Place corner = at({p[0] + (c & 1), p[1] + (c >> 1 & 1), p[2] + (c >> 2)});
      for (std::size_t a = 0; a < 3; ++a) x[a] += corner[a] / static_cast<double>(1 << dimensions);
    }
    return x;
  };
  const auto component = [](const Place& x, int c) { return x[static_cast<std::size_t>(c)]; };
  FakeDomain domain(
      {{0, 0, 0}, {size[0], size[1], dimensions > 2 ? size[2] : 1}},
      std::make_shared<ArrayGeometry>(MeshKind::curvilinear),
      {{"pos", [=](auto&, const Index3& p, int c) { return component(at(p), c); }, Centering::node, dimensions},
       {"v", [=](auto&, const Index3& p, int c) { return component(flow(at(p)), c); }, Centering::node, dimensions},
       {"w", [=](auto&, const Index3& p, int c) { return component(flow(middle(p)), c); }, Centering::cell, dimensions},
       {"x", [=](auto&, const Index3& p, int) { return at(p)[0]; }, Centering::node}},
      dimensions);
  domain.metadata.variables[0].role = Role::coordinates;
  domain.metadata.meshes[0].arrays[static_cast<std::size_t>(Role::coordinates)] = 0;
  return domain;
}

const FakeRun how{.ghosts = 1};

Surface alone_in(const FakeDomain& domain, const std::string& yaml, const Division& division) {
  return run_alone(streamlines_kind(), yaml, domain, division, how).surfaces.begin()->second;
}
Surface alone_in(const FakeLists& lists, const std::string& yaml) {
  return run_lists(streamlines_kind(), yaml, lists).surfaces.begin()->second;
}

/// The cubes with a flow, in blocks to which cells are dealt out at random.
FakeLists cubes(FakeCubes::Made made, const Flow& flow, int blocks, double bend = 0.1, bool flags = false,
                std::int64_t n = 5) {
  const FakeMesh mesh = FakeCubes(n, made, bend).mesh();
  std::vector<int> block_of;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) block_of.push_back(static_cast<int>(c * 7919 / 13) % blocks);
  return {mesh,
          3,
          block_of,
          blocks,
          [](const Place& x) { return x[0]; },
          [](const Place& x) { return x[0]; },
          {.flags = flags, .vectors = flow}};
}

void check_circles(const Surface& surface, std::size_t expected) {
  CHECK(surface.points.size() == expected);
  for (std::size_t n = 0; n < surface.points.size(); ++n) {
    const auto& x = surface.points[n];
    CHECK(std::hypot(x[0], x[1]) == doctest::Approx(0.5).epsilon(1e-8));
    CHECK(std::abs(x[2] - surface.points[0][2]) < 1e-9);
  }
}

// A circle of radius 1/2 in 400 steps.
const std::string circle = fmt::format("step: {:.17g}, steps: 400, direction: forwards", 3.14159265358979323846 / 400);

}  // namespace

TEST_CASE("a rotation on a twisted grid has closed circles") {
  for (const double twist : {0.0, 0.6}) {
    const FakeDomain solid = curved({7, 6, 5}, 3, twist, rotation);
    const Surface line = alone_in(solid, "{variable: v, fields: x, point: {at: [0.5, 0, 0.2]}, " + circle + "}",
                                  even_division(solid.mesh().cells, {2, 1, 2}));
    check_circles(line, 401);
    for (std::size_t a = 0; a < 3; ++a) CHECK(std::abs(line.points.back()[a] - line.points.front()[a]) < 1e-9);
    for (const Surface::Array& array : line.point_data) {
      if (array.name != "x") continue;
      for (std::size_t n = 0; n < line.points.size(); ++n) CHECK(std::abs(array.values[n] - line.points[n][0]) < 1e-9);
    }
    const FakeDomain flat = curved({7, 6, 1}, 2, twist, rotation);
    check_circles(alone_in(flat, "{variable: v, point: {at: [0.5, 0]}, " + circle + "}", {flat.mesh().cells}), 401);
  }
}

TEST_CASE("a rotation in cells of all shapes has closed circles") {
  using enum FakeCubes::Made;
  for (const auto made : {hexahedra, voxels, wedges, pyramids, tetrahedra, polyhedra}) {
    CAPTURE(static_cast<int>(made));
    // Faces must be flat where cells of other shapes, or parts of polyhedra, adjoin them.
    const double bend = made == voxels || made == wedges || made == pyramids || made == polyhedra ? 0 : 0.1;
    check_circles(alone_in(cubes(made, rotation, 3, bend), "{variable: v, point: {at: [0.5, 0, 0.2]}, " + circle + "}"),
                  401);
  }
  check_circles(alone_in(cubes(mixed, rotation, 3, 0), "{variable: v, point: {at: [0.5, 0, 0.2]}, " + circle + "}"),
                401);
}

TEST_CASE("a uniform flow is straight and leaves at the faces; a saddle keeps x y") {
  const std::string through = "{variable: v, point: {at: [0.05, 0.2, 0.4]}, step: 0.01}";
  const auto check_straight = [](const Surface& line) {
    REQUIRE(line.points.size() > 180);
    CHECK(line.points.front()[0] < -0.98);
    CHECK(line.points.back()[0] > 0.98);
    for (const auto& x : line.points) {
      CHECK(std::abs(x[1] - 0.2) < 1e-12);
      CHECK(std::abs(x[2] - 0.4) < 1e-12);
    }
  };
  const std::string crossing = "{variable: v, point: {at: [0.2, 0.3, 0]}, step: 0.01}";
  const auto check_saddle = [](const Surface& line) {
    REQUIRE(line.points.size() > 100);
    for (const auto& x : line.points) CHECK(x[0] * x[1] == doctest::Approx(0.06).epsilon(1e-7));
  };
  const FakeDomain even = curved({8, 8, 8}, 3, 0, uniform), bent = curved({8, 7, 6}, 3, 0.3, saddle);
  check_straight(alone_in(even, through, even_division(even.mesh().cells, {2, 2, 1})));
  check_straight(alone_in(cubes(FakeCubes::Made::hexahedra, uniform, 2), through));
  check_saddle(alone_in(bent, crossing, {bent.mesh().cells}));
  check_saddle(alone_in(cubes(FakeCubes::Made::tetrahedra, saddle, 2), crossing));
}

TEST_CASE("the same bits however blocks and servers are divided, also along faces and through nodes") {
  MpiCommunicator world(test_ranks());
  // Seeds at nodes, on faces and inside; lines of `along` run along faces of an even grid.
  const std::string seeds =
      "point: [{at: [-0.75, 0, 0]}, {at: [0, 0.2, 0.1]}, {at: [0.6, 0.6, 0.6]}], line: {from: [-0.6, -0.5, -0.4], to: "
      "[0.6, 0.5, 0.45], samples: 9}, step: 0.0625, steps: 16";
  for (const auto& [twist, flow] : std::vector<std::pair<double, Flow>>{{0, along}, {0, wave}, {0.6, wave}}) {
    const FakeDomain domain = curved({10, 10, 10}, 3, twist, flow);
    const Box& cells = domain.mesh().cells;
    for (const std::string variable : {"v", "w"}) {
      const std::string yaml = "{variable: " + variable + ", fields: [x], " + seeds + "}";
      CAPTURE(yaml);
      const Surface alone = alone_in(domain, yaml, {cells});
      CHECK(alone.points.size() > 120);
      for (const std::size_t blocks :
           test_all() ? std::vector<std::size_t>{1, 2, 3, 5, 8} : std::vector<std::size_t>{8}) {
        const Division division = random_division(cells, blocks, static_cast<unsigned>(blocks));
        const CapturedResults results = run_analysis(streamlines_kind(), yaml, domain, division, world, how);
        if (world.rank() == 0) CHECK(same_bits(results.surfaces.begin()->second, alone));
      }
    }
  }
}

TEST_CASE("the same bits in cells of all shapes however they are dealt out, with copies as well") {
  MpiCommunicator world(test_ranks());
  const std::string seeds =
      "point: [{at: [-0.75, 0, 0]}, {at: [0, 0.2, 0.1]}, {at: [0.6, 0.6, 0.6]}], line: {from: [-0.6, -0.5, -0.4], to: "
      "[0.6, 0.5, 0.45], samples: 9}, step: 0.0625, steps: 16";
  using enum FakeCubes::Made;
  for (const auto& [made, bend, flow] : std::vector<std::tuple<FakeCubes::Made, double, Flow>>{
           {mixed, 0, wave}, {hexahedra, 0, along}, {hexahedra, 0.1, wave}, {tetrahedra, 0.1, wave}}) {
    for (const std::string variable : {"v", "w"}) {
      const std::string yaml = "{variable: " + variable + ", fields: [n, c], " + seeds + "}";
      const Surface alone = alone_in(cubes(made, flow, 1, bend), yaml);
      CHECK(alone.points.size() > 120);
      for (const int blocks : test_all() ? std::vector{2, 3, 5, 8} : std::vector{3}) {
        for (const bool flags : {false, true}) {
          CAPTURE(yaml);
          CAPTURE(blocks);
          const auto results = run_lists(streamlines_kind(), yaml, cubes(made, flow, blocks, bend, flags), world);
          if (world.rank() == 0) CHECK(same_bits(results.surfaces.begin()->second, alone));
        }
      }
    }
  }
}

TEST_CASE("in cells the field is each cell's own value") {
  const FakeDomain domain = curved({4, 4, 4}, 3, 0, [](const Place& x) { return Place{1, x[0] > 0 ? 1.0 : 0.0, 0}; });
  const Surface line =
      alone_in(domain, "{variable: w, point: {at: [-0.5, -0.5, 0.1]}, step: 0.0625, direction: forwards}",
               {domain.mesh().cells});
  REQUIRE(line.points.size() > 20);
  CHECK(line.points[4][1] == doctest::Approx(-0.5));
  const auto &a = line.points[12], &b = line.points[18];
  CHECK((b[1] - a[1]) / (b[0] - a[0]) == doctest::Approx(1));
}

TEST_CASE("pictures of lines on these meshes are the same bytes for every division") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = curved({8, 7, 6}, 3, 0.6, wave);
  const std::string yaml =
      "{streamlines: {variable: v, line: {from: [-0.5, -0.4, -0.4], to: [0.5, 0.4, 0.4], samples: 9}, colour_by: x, "
      "step: 0.05}, size: [80, 70]}";
  const auto alone = run_alone(render_kind(), yaml, domain, {domain.mesh().cells}, how).images.begin()->second;
  const auto results =
      run_analysis(render_kind(), yaml, domain, random_division(domain.mesh().cells, 7, 3), world, how);
  if (world.rank() == 0) CHECK(results.images.begin()->second.rgba == alone.rgba);
}

TEST_CASE("what cannot be done is said") {
  const auto refusal = [](const FakeDomain& domain, const std::string& options) {
    return message_of([&] {
      static_cast<void>(streamlines_kind().create(
          fake_settings(streamlines_kind(), "{" + options + "}", domain.metadata), domain.metadata));
    });
  };
  FakeDomain domain = curved({3, 3, 3}, 3, 0, uniform);
  CHECK(contains(refusal(domain, "variable: v, point: {at: [0, 0, 0]}"), "found no 'step' for mesh 'grid'"));
  CHECK(contains(refusal(domain, "variable: x, point: {at: [0, 0, 0]}, step: 1"), "found 'x' with 1 component"));
  domain.metadata.meshes[0].refinement = {{2, 2, 2}};
  CHECK(
      contains(refusal(domain, "variable: v, point: {at: [0, 0, 0]}, step: 1"), "curvilinear with refinement levels"));
}

TEST_CASE("cells of unknown types are told of, and lines end there") {
  FakeMesh mesh = FakeCubes(2, FakeCubes::Made::hexahedra, 0).mesh();
  mesh.cells[1].type = 72;  // a hexahedron of Lagrange's
  const FakeLists lists(
      mesh, 3, std::vector<int>(8, 0), 1, [](const Place& x) { return x[0]; }, [](const Place& x) { return x[0]; },
      {.vectors = uniform});
  const Surface line = alone_in(lists, "{variable: v, point: {at: [-0.5, -0.5, -0.5]}, step: 0.1}");
  REQUIRE(!line.points.empty());
  CHECK(line.points.back()[0] < 0.05);
}
