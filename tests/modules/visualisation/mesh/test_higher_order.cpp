// Cells of higher order and strips of triangles. The linear cells that they are cut into fill them, and all analyses
// use these.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "modules/visualisation/part_checks.hpp"
#include "support/fake_lists.hpp"
#include "support/message_of.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// A cell as VTK numbers its points: corners, then points that are the means of some of them.
struct Higher {
  std::uint8_t type, linear;
  std::vector<Place> corners;
  std::vector<std::vector<int>> means;
};

const std::vector<Place> square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
const std::vector<Place> triangle{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
const std::vector<Place> cube{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
const std::vector<Place> prism{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 0, 1}};
const std::vector<std::vector<int>> cube_edges{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 5}, {5, 6},
                                               {6, 7}, {7, 4}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
const std::vector<std::vector<int>> prism_edges{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}};

std::vector<std::vector<int>> with(std::vector<std::vector<int>> all, const std::vector<std::vector<int>>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The solid cells, as VTK's documentation numbers their points.
std::vector<Higher> solids() {
  return {{24, 10, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}},
          {25, 12, cube, cube_edges},
          {26, 13, prism, prism_edges},
          {27,
           14,
           {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1}},
           {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}, {2, 4}, {3, 4}}},
          {29, 12, cube,
           with(cube_edges, {{0, 3, 7, 4},
                             {1, 2, 6, 5},
                             {0, 1, 5, 4},
                             {3, 2, 6, 7},
                             {0, 1, 2, 3},
                             {4, 5, 6, 7},
                             {0, 1, 2, 3, 4, 5, 6, 7}})},
          {31, 13, prism, {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}},
          {32, 13, prism, with(prism_edges, {{0, 1, 3, 4}, {1, 2, 4, 5}, {2, 0, 5, 3}})}};
}

std::vector<Higher> flat_ones() {
  return {{22, 5, triangle, {{0, 1}, {1, 2}, {2, 0}}},
          {23, 9, square, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}},
          {28, 9, square, {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 1, 2, 3}}},
          {30, 9, square, {{0, 1}, {2, 3}}},
          {34, 5, triangle, {{0, 1}, {1, 2}, {2, 0}, {0, 1, 2}}},
          {36, 9, square, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}}};
}

/// Sheared, so that nothing lies along an axis.
Place sheared(const Place& x) {
  return {2 * x[0] + 0.3 * x[1] + 0.1 * x[2] - 0.7, x[1] - 0.2 * x[2] + 0.11, 1.5 * x[2] + 0.25 * x[0] - 0.4};
}
double linear(const Place& x) { return 2 * x[0] - 3 * x[1] + 0.5 * x[2] + 1; }

FakeMesh mesh_of(const Higher& cell, bool higher) {
  FakeMesh mesh;
  for (const Place& corner : cell.corners) mesh.places.push_back(sheared(corner));
  if (higher) {
    for (const std::vector<int>& mean : cell.means) {
      Place x{};
      for (const int c : mean) {
        for (std::size_t d = 0; d < 3; ++d) {
          x[d] += mesh.places[static_cast<std::size_t>(c)][d] / static_cast<double>(mean.size());
        }
      }
      mesh.places.push_back(x);
    }
  }
  FakeCell one{higher ? cell.type : cell.linear, {}};
  for (std::size_t n = 0; n < mesh.places.size(); ++n) one.points.push_back(static_cast<std::int64_t>(n));
  mesh.cells.push_back(one);
  return mesh;
}

FakeLists lists(const FakeMesh& mesh) {
  return FakeLists(mesh, 3, std::vector<int>(mesh.cells.size(), 0), 1, linear, [](const Place& x) { return norm(x); });
}

CellSet set_of(const AnalysisKind& kind, const std::string& yaml, const FakeMesh& mesh) {
  const CapturedResults results = run_lists(kind, yaml, lists(mesh));
  REQUIRE(results.cell_sets.size() == 1);
  return results.cell_sets.begin()->second;
}

Surface surface_of(const AnalysisKind& kind, const std::string& yaml, const FakeMesh& mesh) {
  const CapturedResults results = run_lists(kind, yaml, lists(mesh));
  REQUIRE(results.surfaces.size() == 1);
  return results.surfaces.begin()->second;
}

double length_of(const Surface& s) {
  double sum = 0;
  for (const auto& [a, b] : s.lines) {
    sum += norm(minus(s.points[static_cast<std::size_t>(b)], s.points[static_cast<std::size_t>(a)]));
  }
  return sum;
}

}  // namespace

TEST_CASE("what solid cells are cut into fills them without gaps, and is cut like the linear cell") {
  for (const Higher& cell : solids()) {
    CAPTURE(static_cast<int>(cell.type));
    const FakeMesh higher = mesh_of(cell, true), simple = mesh_of(cell, false);
    const std::string all = "{variable: c, component: 0, minimum: -1, fields: [n]}";
    const CellSet parts = set_of(threshold_kind(), all, higher), whole = set_of(threshold_kind(), all, simple);
    CHECK(parts.types.size() > 1);
    CHECK(size_of(parts) == doctest::Approx(size_of(whole)));
    CHECK(outer_area(parts) == doctest::Approx(outer_area(whole)));
    CHECK(parts.points.size() == cell.corners.size() + cell.means.size());
    for (const char* plane : {"normal: [1, 0.2, 0.1], origin: [0.21, 0.3, 0.2]", "axis: z, position: 0.23"}) {
      const std::string yaml = fmt::format("{{variable: n, {}}}", plane);
      CHECK(size_of(set_of(clip_kind(), yaml, higher)) == doctest::Approx(size_of(set_of(clip_kind(), yaml, simple))));
      const Surface cut = surface_of(slice_kind(), yaml, higher);
      CHECK(area(cut) == doctest::Approx(area(surface_of(slice_kind(), yaml, simple))));
      CHECK(area(cut) > 0);
      for (std::size_t p = 0; p < cut.points.size(); ++p) {
        CHECK(cut.point_data[0].values[p] == doctest::Approx(linear(cut.points[p])));
      }
    }
    const Surface level = surface_of(isosurface_kind(), "{variable: n, values: 0.9}", higher);
    CHECK(area(level) > 0);
    CHECK(area(level) == doctest::Approx(area(surface_of(isosurface_kind(), "{variable: n, values: 0.9}", simple))));
  }
}

TEST_CASE("probes find their places in cells of higher order and in polyhedra") {
  const FakeCubes polyhedra(3, FakeCubes::Made::polyhedra, 0);
  const auto probed = [](const FakeMesh& mesh, const Place& x) {
    const std::string yaml =
        fmt::format("{{variables: [n], point: {{at: [{}, {}, {}]}}, file: a.csv}}", x[0], x[1], x[2]);
    const Table table = run_lists(probe_kind(), yaml, lists(mesh)).tables.at("a.csv");
    REQUIRE(table.rows() == 1);
    const std::vector<std::string> names = table.names();
    const auto column = static_cast<std::size_t>(std::find(names.begin(), names.end(), "n") - names.begin());
    return std::get<double>(table.at(0, column));
  };
  for (const Higher& cell : solids()) {
    CAPTURE(static_cast<int>(cell.type));
    const FakeMesh mesh = mesh_of(cell, true);
    for (const Place& inside : {Place{0.3, 0.25, 0.2}, {0.4, 0.42, 0.07}, {0.21, 0.3, 0.31}}) {
      const Place x = sheared(inside);
      CHECK(probed(mesh, x) == doctest::Approx(linear(x)));
    }
    CHECK(std::isnan(probed(mesh, sheared({1.2, 0.9, 0.9}))));
  }
  for (const Place& x : {Place{0.1, 0.2, 0.3}, {-0.9, 0.77, 0.1}, {0.34, 0.33, 0.99}}) {
    CHECK(probed(polyhedra.mesh(), x) == doctest::Approx(linear(x)));
  }
}

TEST_CASE("the same of flat cells") {
  for (const Higher& cell : flat_ones()) {
    CAPTURE(static_cast<int>(cell.type));
    const FakeMesh higher = mesh_of(cell, true), simple = mesh_of(cell, false);
    const std::string plane = "{variable: n, axis: x, position: 0.1}";
    CHECK(size_of(set_of(clip_kind(), plane, higher)) == doctest::Approx(size_of(set_of(clip_kind(), plane, simple))));
    CHECK(length_of(surface_of(slice_kind(), plane, higher)) ==
          doctest::Approx(length_of(surface_of(slice_kind(), plane, simple))));
  }
}

TEST_CASE("lines of higher order and strips of triangles") {
  FakeMesh lines;
  lines.places = {{0, 0, 0}, {1, 0, 0}, {0.5, 0, 0}, {2, 0, 0}, {3, 0, 0}, {2.3, 0, 0}, {2.7, 0, 0}};
  lines.cells = {{21, {0, 1, 2}}, {35, {3, 4, 5, 6}}};
  CHECK(size_of(set_of(clip_kind(), "{variable: n, axis: x, position: 0.25}", lines)) == doctest::Approx(1.75));
  FakeMesh strip;
  for (int n = 0; n < 7; ++n) strip.places.push_back({0.5 * n, static_cast<double>(n % 2), 0});
  strip.cells = {{6, {0, 1, 2, 3, 4, 5, 6}}};
  CHECK(size_of(set_of(threshold_kind(), "{variable: n, minimum: -100}", strip)) == doctest::Approx(2.5));
  const CellSet triangles = set_of(threshold_kind(), "{variable: c, component: 0, minimum: -100}", strip);
  CHECK(triangles.types.size() == 5);
  CHECK(std::all_of(triangles.cell_data[0].values.begin(), triangles.cell_data[0].values.end(),
                    [&](double value) { return value > 0; }));
}

TEST_CASE("of a slice each cell of higher order has one value, and points of its own") {
  FakeMesh mesh = mesh_of(solids()[1], true);
  const Surface cut = surface_of(slice_kind(), "{variable: c, axis: z, position: 0.3}", mesh);
  CHECK(area(cut) > 0);
  for (std::size_t p = 1; p < cut.points.size(); ++p) {
    CHECK(cut.point_data[0].values[2 * p] == cut.point_data[0].values[0]);
  }
}

TEST_CASE("types that are not known are refused") {
  FakeMesh mesh = mesh_of(solids()[1], true);
  mesh.cells[0].type = 72;
  CHECK(
      contains(message_of([&] { static_cast<void>(set_of(clip_kind(), "{variable: n, axis: x, position: 0}", mesh)); }),
               "has VTK's type 72"));
  mesh.cells[0].type = 26;
  CHECK(
      contains(message_of([&] { static_cast<void>(set_of(clip_kind(), "{variable: n, axis: x, position: 0}", mesh)); }),
               "has 20 points, but its type 26 has 15"));
}
