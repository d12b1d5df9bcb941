// Volumes on curvilinear and unstructured meshes: like those of a uniform mesh, without holes, and the same bytes for
// every division.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/fake_lists.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double slope(const Place& x) { return x[0] + 0.5 * x[1] - 0.3 * x[2]; }
double hills(const Place& x) { return std::sin(5 * x[0]) * std::cos(4 * x[1]) + 0.7 * std::sin(3 * x[2] - x[0]); }
double constant(const Place&) { return 0.25; }

using Field = double (*)(const Place&);

/// A cube from -1 to 1 of n^3 cells, turned by an angle that rises with height.
Place twisted(const Index3& p, Index n, double twist) {
  Place x{};
  for (std::size_t a = 0; a < 3; ++a) x[a] = -1 + 2 * static_cast<double>(p[a]) / static_cast<double>(n);
  const double c = std::cos(twist * x[2]), s = std::sin(twist * x[2]);
  return {c * x[0] - s * x[1], s * x[0] + c * x[1], x[2]};
}

FakeDomain curved(Index n, double twist, Field field) {
  const auto middle = [n, twist](const Index3& p) {
    Place x{};
    for (int c = 0; c < 8; ++c) {
      const Place corner = twisted({p[0] + (c & 1), p[1] + (c >> 1 & 1), p[2] + (c >> 2)}, n, twist);
      for (std::size_t a = 0; a < 3; ++a) x[a] += corner[a] / 8;
    }
    return x;
  };
  FakeDomain domain(
      {{0, 0, 0}, {n, n, n}}, std::make_shared<ArrayGeometry>(MeshKind::curvilinear),
      {{"pos", [=](auto&, const Index3& p, int c) { return twisted(p, n, twist)[static_cast<std::size_t>(c)]; },
        Centering::node, 3},
       {"n", [=](auto&, const Index3& p, int) { return field(twisted(p, n, twist)); }, Centering::node},
       {"c", [=](auto&, const Index3& p, int) { return field(middle(p)); }},
       {"gaps", [=](auto&, const Index3& p, int) {
          return (p[0] + p[1]) % 3 == 0 ? std::numeric_limits<double>::quiet_NaN() : field(middle(p));
        }}});
  domain.metadata.variables[0].role = Role::coordinates;
  domain.metadata.meshes[0].arrays[static_cast<std::size_t>(Role::coordinates)] = 0;
  return domain;
}

FakeDomain even(Index n, Field field) {
  const auto value = [field](const std::array<double, 3>& x, const Index3&, int) { return field(x); };
  return fake_cube(n, -1, 1, {{"n", value, Centering::node}, {"c", value}});
}

FakeLists cubes(FakeCubes::Made made, Field field, int blocks, double bend = 0, bool flags = false) {
  const FakeMesh mesh = FakeCubes(4, made, bend).mesh();
  std::vector<int> block_of;
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) block_of.push_back(static_cast<int>(c * 7919 / 13) % blocks);
  return {mesh, 3, block_of, blocks, field, field, {.flags = flags}};
}

const FakeRun how{.ghosts = 1};

Image only(const CapturedResults& results) { return results.images.begin()->second; }
Image picture(const FakeDomain& domain, const std::string& yaml) {
  return only(run_alone(render_kind(), yaml, domain, {domain.mesh().cells}, how));
}
Image picture(const FakeLists& lists, const std::string& yaml) { return only(run_lists(render_kind(), yaml, lists)); }

int worst(const Image& a, const Image& b) {
  REQUIRE(a.rgba.size() == b.rgba.size());
  int most = 0;
  for (std::size_t n = 0; n < a.rgba.size(); ++n) most = std::max(most, std::abs(a.rgba[n] - b.rgba[n]));
  return most;
}

std::string scene(const std::string& volume, const std::string& more = "size: [40, 30]") {
  return "{volume: {range: [-2, 2], " + volume + "}, caption: none, colour_bar: false, outline: false, " + more + "}";
}

const std::vector<std::string> cameras{
    "size: [40, 30]", "size: [30, 30], camera: {projection: parallel, view: [1, 0, 0]}",
    "size: [30, 30], camera: {position: [0.1, 0.2, -0.3], focus: [1, 1, 1], angle: 75}"};
/// One of them on each rank, unless everything is tried.
std::vector<std::string> some_cameras() {
  if (test_all()) return cameras;
  const MpiCommunicator world(test_ranks());
  return {cameras[static_cast<std::size_t>(world.rank() + 2) % cameras.size()]};
}

}  // namespace

TEST_CASE("cells of all shapes look like a uniform mesh") {
  using enum FakeCubes::Made;
  const FakeDomain uniform = even(4, slope);
  for (const std::string& camera : some_cameras()) {
    CAPTURE(camera);
    const std::string yaml = scene("variable: n, opacity: [0, 0.02, 0.1, 0.3]", camera);
    const Image wanted = picture(uniform, yaml);
    CHECK(worst(picture(curved(4, 0, slope), yaml), wanted) <= 2);
    for (const auto made : {hexahedra, voxels, wedges, pyramids, tetrahedra, polyhedra, mixed}) {
      CAPTURE(static_cast<int>(made));
      CHECK(worst(picture(cubes(made, slope, 3), yaml), wanted) <= 2);
      CHECK(worst(picture(cubes(made, slope, 3, 0, true), yaml), wanted) <= 2);  // copies count once
    }
  }
}

TEST_CASE("cells of warped faces leave no gap and do not overlap") {
  using enum FakeCubes::Made;
  // The optical depth of a constant belongs to the length within the cube, however that is divided.
  for (const std::string& camera : some_cameras()) {
    CAPTURE(camera);
    const std::string at_points = scene("variable: n, opacity: [0.05, 0.05]", camera),
                      in_cells = scene("variable: c, component: 0, opacity: [0.05, 0.05]", camera);
    const Image wanted = picture(even(4, constant), at_points);
    for (const auto made : {hexahedra, tetrahedra, pyramids}) {
      CAPTURE(static_cast<int>(made));
      CHECK(worst(picture(cubes(made, constant, 2, 0.1), at_points), wanted) <= 2);
      CHECK(worst(picture(cubes(made, constant, 2, 0.1), in_cells), wanted) <= 2);
    }
  }
}

TEST_CASE("the same bytes however blocks and servers are divided") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = curved(7, 0.6, hills);
  const Box& cells = domain.mesh().cells;
  for (const std::string volume : {"variable: n, opacity: [0, 0.1, 0, 0.3]", "variable: c, opacity: [0.3, 0, 0.2]",
                                   "variable: gaps, opacity: [0.1, 0.2]"}) {
    const std::string yaml = "{volume: {" + volume +
                             "}, slice: {variable: n, axis: z, position: 0.1, opacity: 0.5}, "
                             "size: [40, 30]}";
    CAPTURE(yaml);
    const Image alone = picture(domain, yaml);
    for (const Division& division : {even_division(cells, {2, 3, 1}), random_division(cells, 8, 5)}) {
      for (const std::size_t partials : {1, 2}) {
        const auto all =
            run_analysis(render_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = partials});
        if (world.rank() == 0) CHECK(only(all).rgba == alone.rgba);
      }
    }
  }
  for (const auto made : {FakeCubes::Made::mixed, FakeCubes::Made::hexahedra}) {
    const std::string yaml = scene("variable: n, opacity: [0, 0.1, 0, 0.3]");
    const Image alone = picture(cubes(made, hills, 1, 0.1), yaml);
    for (const bool flags : {false, true}) {
      const auto all = run_lists(render_kind(), yaml, cubes(made, hills, 5, 0.1, flags), world);
      if (world.rank() == 0) CHECK(only(all).rgba == alone.rgba);
    }
  }
}

TEST_CASE("cells without a value or a place are clear") {
  const FakeDomain domain = curved(5, 0.3, constant);
  const auto lit = [](const Image& image) {
    std::size_t count = 0;
    for (std::size_t p = 0; p < image.rgba.size(); p += 4) count += image.rgba[p] != 255 ? 1 : 0;
    return count;
  };
  const std::string view = "size: [60, 60], background: white, camera: {view: [0, 0, -1], projection: parallel}";
  const std::size_t all = lit(picture(domain, scene("variable: c, opacity: [0.9, 0.9]", view)));
  const std::size_t some = lit(picture(domain, scene("variable: gaps, opacity: [0.9, 0.9]", view)));
  CHECK(all > 1000);
  CHECK(some > 0.4 * static_cast<double>(all));
  CHECK(some < 0.95 * static_cast<double>(all));
}
