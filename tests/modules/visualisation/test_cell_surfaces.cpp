// Isosurfaces of variables in the cells of unstructured meshes, their normals, and flags of cells. Values at a point
// are means over its cells, which may be in any block.
#include <doctest/doctest.h>

#include <map>
#include <numbers>
#include <random>

#include "support/fake_lists.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "support/surface_checks.hpp"
#include "support/test_all.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double radius(const Place& x) { return norm(x); }

FakeLists lists(const FakeMesh& mesh, int blocks, const FakeNames& names = {}) {
  std::mt19937 random(5);
  std::vector<int> block_of(mesh.cells.size());
  for (int& block : block_of) block = static_cast<int>(random() % static_cast<unsigned>(blocks));
  return FakeLists(mesh, 3, block_of, blocks, radius, radius, names);
}

Surface surface_of(const CapturedResults& results) {
  REQUIRE(results.surfaces.size() == 1);
  return results.surfaces.begin()->second;
}

constexpr const char* in_cells = "{variable: c, component: 0, values: [0.55, 0.7], fields: [n], normals: true}";
constexpr const char* at_points = "{variable: n, values: [0.55, 0.7], normals: true}";

}  // namespace

TEST_CASE("surfaces of variables in cells close, and normals point to lower values") {
  using Made = FakeCubes::Made;
  for (const Made made : {Made::hexahedra, Made::wedges, Made::tetrahedra, Made::polyhedra, Made::mixed}) {
    for (const char* yaml : {in_cells, at_points}) {
      const FakeCubes cubes(12, made);
      const Surface s = surface_of(run_lists(isosurface_kind(), yaml, lists(cubes.mesh(), 5)));
      const Edges edges = edges_of(s);
      CHECK(edges.sound);
      CHECK(edges.rim == 0);
      const double expected = 4.0 / 3 * std::numbers::pi * (0.55 * 0.55 * 0.55 + 0.7 * 0.7 * 0.7);
      CHECK(volume(s) == doctest::Approx(-expected).epsilon(0.12));  // lower values are inside
      REQUIRE(s.point_data.back().name == "normals");
      for (std::size_t p = 0; p < s.points.size(); ++p) {
        const double* n = &s.point_data.back().values[3 * p];
        const Vector& x = s.points[p];
        CHECK(norm({n[0], n[1], n[2]}) == doctest::Approx(1));
        CHECK(dot({n[0], n[1], n[2]}, x) / norm(x) < -0.95);
      }
    }
  }
}

TEST_CASE("a mean is that of the cells round the point") {
  // Brute force finds the mean at each point. The surface must pass between points above and below the value.
  const FakeCubes cubes(3, FakeCubes::Made::mixed);
  const FakeMesh& mesh = cubes.mesh();
  std::map<std::int64_t, std::vector<double>> given;
  for (const FakeCell& cell : mesh.cells) {
    Place middle{};
    for (const std::int64_t p : cell.points) {
      for (std::size_t d = 0; d < 3; ++d) {
        middle[d] += mesh.places[static_cast<std::size_t>(p)][d] / static_cast<double>(cell.points.size());
      }
    }
    for (const std::int64_t p : cell.points)
      given[p].push_back(static_cast<double>(static_cast<float>(radius(middle))));
  }
  std::vector<double> means;
  for (const auto& [p, values] : given) {
    means.push_back(std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()));
  }
  std::sort(means.begin(), means.end());
  const auto surface = [&](double value) {
    return surface_of(run_lists(isosurface_kind(), "{variable: c, component: 0, values: " + std::to_string(value) + "}",
                                lists(mesh, 4)));
  };
  CHECK(surface(means.front() - 0.001).triangles.empty());
  CHECK(!surface(means.front() + 0.001).triangles.empty());
  CHECK(!surface(means.back() - 0.001).triangles.empty());
  CHECK(surface(means.back() + 0.001).triangles.empty());
}

TEST_CASE("means and normals do not depend on blocks and servers") {
  MpiCommunicator world(test_ranks());
  for (const FakeCubes::Made made : {FakeCubes::Made::mixed, FakeCubes::Made::tetrahedra}) {
    const FakeCubes cubes(6, made);
    for (const char* yaml : {in_cells, at_points, "{variable: c, component: 1, values: 1.6}"}) {
      const Surface expected = surface_of(run_lists(isosurface_kind(), yaml, lists(cubes.mesh(), 1)));
      REQUIRE(!expected.triangles.empty());
      for (const int blocks : {2, 5, 7}) {
        for (const bool flags : {false, true}) {
          const CapturedResults results =
              run_lists(isosurface_kind(), yaml, lists(cubes.mesh(), blocks, {.flags = flags}), world);
          if (world.rank() == 0) CHECK(same_bits(surface_of(results), expected));
        }
      }
    }
  }
}

TEST_CASE("without being asked for there are no normals in unstructured meshes") {
  const FakeCubes cubes(4, FakeCubes::Made::hexahedra);
  const Surface s = surface_of(run_lists(isosurface_kind(), "{variable: n, values: 0.7}", lists(cubes.mesh(), 2)));
  CHECK(s.point_data.size() == 1);
}

TEST_CASE("flagged cells of boxes have no slice and no surface") {
  MpiCommunicator world(test_ranks());
  const auto flag = [](const std::array<double, 3>& x, const Index3&, int) { return x[0] > 0 && x[1] > 0 ? 1.0 : 0.0; };
  const auto value = [](const std::array<double, 3>& x, const Index3&, int) { return norm(x); };
  FakeDomain domain = fake_cube(
      8, -1, 1, {{"c", value}, {"n", value, Centering::node}, {"flags", flag, Centering::cell, 1, Type::uint8}});
  const FakeDomain plain = domain;
  domain.metadata.meshes[0].arrays[static_cast<std::size_t>(Role::cell_ghosts)] = 2;
  domain.metadata.variables[2].role = Role::cell_ghosts;
  const Division one{domain.mesh().cells};
  const auto sliced = [&](const FakeDomain& of, const char* yaml, const Division& division) {
    return surface_of(run_alone(slice_kind(), yaml, of, division, {.ghosts = 1}));
  };
  CHECK(area(sliced(plain, "{variable: n, axis: z, position: 0.1}", one)) == doctest::Approx(4));
  CHECK(area(sliced(domain, "{variable: n, axis: z, position: 0.1}", one)) == doctest::Approx(3));
  // This slice lies between centres, so the gap is half a cell wider on the sides where there are other cells.
  CHECK(area(sliced(domain, "{variable: c, axis: z, position: 0.1}", one)) == doctest::Approx(4 - 1.125 * 1.125));
  for (const auto& [kind, yaml] : {std::pair{slice_kind(), "{variable: c, axis: z, position: 0.1}"},
                                   {slice_kind(), "{variable: n, axis: x, position: 0.1}"},
                                   {isosurface_kind(), "{variable: c, values: 0.7}"},
                                   {isosurface_kind(), "{variable: n, values: 0.7}"}}) {
    const Surface expected = surface_of(run_alone(kind, yaml, domain, one, {.ghosts = 1}));
    CHECK(area(expected) < area(surface_of(run_alone(kind, yaml, plain, one, {.ghosts = 1}))));
    for (const std::size_t blocks : ends_of({2, 5, 8})) {
      const CapturedResults results =
          run_analysis(kind, yaml, domain, random_division(domain.mesh().cells, blocks, 4), world, {.ghosts = 1});
      if (world.rank() == 0) CHECK(same_bits(surface_of(results), expected));
    }
  }
}
