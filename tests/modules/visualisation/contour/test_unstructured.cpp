// Slices and surfaces of unstructured meshes with every kind of cell, in any number of blocks.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <numbers>
#include <random>

#include "sidestream/error.hpp"
#include "support/fake_lists.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "support/surface_checks.hpp"
#include "visualisation/kinds.hpp"
#include "visualisation/mesh/cells/cell_shapes.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

using Made = FakeCubes::Made;
constexpr Made every_kind[] = {Made::hexahedra,  Made::voxels,    Made::wedges, Made::pyramids,
                               Made::tetrahedra, Made::polyhedra, Made::mixed};

double radius(const Place& x) { return norm(x); }
double linear(const Place& x) { return 2 * x[0] - 3 * x[1] + 0.5 * x[2] + 1; }
/// A field with saddles everywhere, so that faces have opposite corners inside.
double gyroid(const Place& x) {
  return std::sin(9 * x[0]) * std::cos(9 * x[1]) + std::sin(9 * x[1]) * std::cos(9 * x[2]) +
         std::sin(9 * x[2]) * std::cos(9 * x[0]);
}

/// The block of each cell: chosen at random if there is a seed, otherwise contiguous parts of the list.
std::vector<int> dealt(const FakeMesh& mesh, int blocks, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> block_of(mesh.cells.size());
  for (std::size_t c = 0; c < block_of.size(); ++c) {
    block_of[c] = seed > 0 ? static_cast<int>(random() % static_cast<unsigned>(blocks))
                           : static_cast<int>(c * static_cast<std::size_t>(blocks) / block_of.size());
  }
  return block_of;
}

FakeLists lists(const FakeMesh& mesh, int blocks, unsigned seed, const FakeLists::Field& at_points,
                const FakeNames& names = {}, int dimensions = 3) {
  return FakeLists(mesh, dimensions, dealt(mesh, blocks, seed), blocks, at_points, radius, names);
}

Surface surface_of(const CapturedResults& results) {
  REQUIRE(results.surfaces.size() == 1);
  return results.surfaces.begin()->second;
}

Surface make(const AnalysisKind& kind, const std::string& yaml, const FakeLists& of) {
  return surface_of(run_lists(kind, yaml, of));
}

const Surface::Array& array(const Surface& s, const std::string& name) {
  for (const Surface::Array& one : s.point_data) {
    if (one.name == name) return one;
  }
  FAIL("no array " << name);
  return s.point_data.front();
}

double length_of(const Surface& s) {
  double sum = 0;
  for (const auto& [a, b] : s.lines) sum += norm(minus(s.points[b], s.points[a]));
  return sum;
}

/// A mesh of two dimensions: triangles, pixels, quadrilaterals and pentagons, some of them clockwise.
FakeMesh flat_mesh(std::int64_t n) {
  FakeMesh mesh;
  const auto at = [&](std::int64_t i) { return -1 + 2 * static_cast<double>(i) / static_cast<double>(n); };
  for (std::int64_t j = 0; j <= n; ++j) {
    for (std::int64_t i = 0; i <= n; ++i) mesh.places.push_back({at(i), at(j), 0});
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      switch ((i + 3 * j) % 4) {
        case 0:
          mesh.cells.push_back({5, {a, b, d}});
          mesh.cells.push_back({5, {a, c, d}});  // clockwise
          break;
        case 1:
          mesh.cells.push_back({8, {a, b, c, d}});
          break;
        case 2:
          mesh.cells.push_back({9, {a, c, d, b}});  // clockwise
          break;
        default:
          mesh.cells.push_back({7, {a, b, d, c}});
      }
    }
  }
  return mesh;
}

}  // namespace

TEST_CASE("in every case of every shape, triangles meet each other inside and the faces' segments on the faces") {
  for (const std::uint8_t type : {vtk_tetra, vtk_voxel, vtk_hexahedron, vtk_wedge, vtk_pyramid}) {
    const CellShape& shape = *shape_of(type);
    REQUIRE(shape.cases.size() == std::size_t{1} << shape.body.corners());
    const auto on_face = [&](int e, int f) {  // both edges
      return std::any_of(shape.body.faces().begin(), shape.body.faces().end(), [&](const std::vector<int>& face) {
        const auto has = [&](int edge) {
          const auto [a, b] = shape.edges[static_cast<std::size_t>(edge)];
          return std::count(face.begin(), face.end(), a) == 1 && std::count(face.begin(), face.end(), b) == 1;
        };
        return has(e) && has(f);
      });
    };
    for (std::size_t bits = 0; bits < shape.cases.size(); ++bits) {
      std::map<std::pair<int, int>, int> ways;
      std::set<int> used;
      const CellShape::Case& one = shape.cases[bits];
      for (std::size_t t = one.first; t < one.first + std::size_t{one.count}; ++t) {
        for (std::size_t v = 0; v < 3; ++v) {
          used.insert(shape.triangles[t][v]);
          ++ways[{shape.triangles[t][v], shape.triangles[t][(v + 1) % 3]}];
        }
      }
      for (const auto& [edge, count] : ways) {
        CHECK(count == 1);
        CHECK((ways.count({edge.second, edge.first}) == 1) != on_face(edge.first, edge.second));
      }
      for (std::size_t e = 0; e < shape.edges.size(); ++e) {
        const auto [a, b] = shape.edges[e];
        CHECK(used.count(static_cast<int>(e)) == ((bits >> a & 1) != (bits >> b & 1) ? 1 : 0));
      }
    }
  }
}

TEST_CASE("a sphere closes over cells and blocks of every kind") {
  for (const Made made : every_kind) {
    const FakeCubes cubes(10, made);
    for (const double sign : {1.0, -1.0}) {
      const FakeLists mesh = lists(cubes.mesh(), 5, 1, [=](const Place& x) { return sign * norm(x); });
      const Surface s = make(isosurface_kind(), fmt::format("{{variable: n, values: {}}}", sign * 0.7), mesh);
      const Edges edges = edges_of(s);
      CHECK(edges.sound);
      CHECK(edges.rim == 0);
      CHECK(euler_characteristic(s) == 2);
      CHECK(volume(s) == doctest::Approx(-sign * 4.0 / 3 * std::numbers::pi * 0.343).epsilon(0.05));
      for (const Vector& x : s.points) CHECK(norm(x) == doctest::Approx(0.7).epsilon(0.05));
    }
  }
}

TEST_CASE("where faces have opposite corners inside, cells of different kinds agree") {
  for (const Made made : every_kind) {
    const FakeCubes cubes(9, made);
    const Surface s = make(isosurface_kind(), "{variable: n, values: 0.1}", lists(cubes.mesh(), 3, 2, gyroid));
    const Edges edges = edges_of(s);
    CHECK(edges.sound);
    CHECK(s.triangles.size() > 1000);
    for (const std::int64_t p : edges.rim_points) {  // the rim lies in the faces of the cube
      const Vector& x = s.points[static_cast<std::size_t>(p)];
      CHECK(std::max({std::fabs(x[0]), std::fabs(x[1]), std::fabs(x[2])}) == 1);
    }
  }
}

TEST_CASE("a slice has the area of the cut, and fields at points are interpolated") {
  for (const Made made : every_kind) {
    const FakeLists mesh = lists(FakeCubes(8, made).mesh(), 3, 1, linear);
    for (const auto& [plane, up] : {std::pair("axis: z, position: 0.1", Vector{0, 0, 1}),
                                    {"axis: x, position: 0", Vector{1, 0, 0}},
                                    {"normal: [0, 0, -2], origin: [0, 0, 0.3]", Vector{0, 0, -1}},
                                    {"axis: y, position: 1", Vector{0, 1, 0}}}) {
      const Surface s = make(slice_kind(), fmt::format("{{variable: n, {}}}", plane), mesh);
      CHECK(edges_of(s).sound);
      CHECK(area(s) == doctest::Approx(4).epsilon(1e-12));
      for (std::size_t t = 0; t < s.triangles.size(); ++t) CHECK(dot(spanned(s, t), up) > -1e-15);
      for (std::size_t p = 0; p < s.points.size(); ++p) {
        CHECK(array(s, "n").values[p] == doctest::Approx(linear(s.points[p])));
      }
    }
    CHECK(make(slice_kind(), "{variable: n, axis: x, position: 1.5}", mesh).triangles.empty());
  }
}

TEST_CASE("a slice of a variable in cells has each cell's own value") {
  const FakeCubes cubes(6, Made::mixed, 0);  // not deformed, so that the cell at a position is known
  const FakeLists mesh = lists(cubes.mesh(), 3, 1, linear);
  const Surface s = make(slice_kind(), "{variable: c, axis: z, position: 0.1, fields: [n]}", mesh);
  CHECK(area(s) == doctest::Approx(4));
  CHECK(array(s, "c").components == 2);
  // The value of a cell is that of the mean of its points, found by brute force over all cells.
  std::set<float> all;
  for (const FakeCell& cell : cubes.mesh().cells) {
    Place middle{};
    for (const std::int64_t p : cell.points) {
      for (std::size_t d = 0; d < 3; ++d) {
        middle[d] += cubes.mesh().places[static_cast<std::size_t>(p)][d] / static_cast<double>(cell.points.size());
      }
    }
    all.insert(static_cast<float>(radius(middle)));
  }
  for (const auto& triangle : s.triangles) {
    const auto value = [&](int v) { return array(s, "c").values[2 * static_cast<std::size_t>(triangle[v])]; };
    CHECK(value(0) == value(1));
    CHECK(value(0) == value(2));
    CHECK(all.count(static_cast<float>(value(0))) == 1);
    Vector middle{};
    for (const std::int64_t p : triangle) {
      for (std::size_t d = 0; d < 3; ++d) middle[d] += s.points[static_cast<std::size_t>(p)][d] / 3;
    }
    CHECK(std::fabs(value(0) - radius(middle)) < 0.35);
  }
  for (std::size_t p = 0; p < s.points.size(); ++p) {
    CHECK(array(s, "n").values[p] == doctest::Approx(linear(s.points[p])));
  }
}

TEST_CASE("the same bytes for every division, with numbers of points and cells, on every number of servers") {
  MpiCommunicator world(test_ranks());
  const FakeCubes cubes(6, Made::mixed);
  const std::pair<AnalysisKind, std::string> all[] = {
      {isosurface_kind(), "{variable: n, values: [0.3, 0.8], fields: [n]}"},
      {slice_kind(), "{variable: n, axis: y, position: 0}"},
      {slice_kind(), "{variable: c, normal: [1, -2, 0.7], origin: [0, 0, 0], fields: [n]}"},
  };
  for (const bool shuffled : {false, true}) {
    for (const auto& [kind, yaml] : all) {
      const FakeNames names{.shuffled = shuffled};
      const Surface reference = make(kind, yaml, lists(cubes.mesh(), 1, 0, radius, names));
      CHECK(!reference.triangles.empty());
      for (const int blocks : {1, 2, 3, 5, 8}) {
        for (const unsigned seed : {0u, 1u}) {
          const FakeLists mesh = lists(cubes.mesh(), blocks, seed, radius, names);
          const CapturedResults made = run_lists(kind, yaml, mesh, world);
          if (world.rank() == 0) CHECK(same_bits(reference, surface_of(made)));
          if (seed == 0 || yaml.find("variable: c") != std::string::npos) continue;
          // Numbers of points are enough, unless every cell has points of its own.
          const FakeNames points{.cells = false, .shuffled = shuffled};
          const Surface alone = make(kind, yaml, lists(cubes.mesh(), 1, 0, radius, points));
          const CapturedResults again = run_lists(kind, yaml, lists(cubes.mesh(), blocks, seed, radius, points), world);
          if (world.rank() == 0) CHECK(same_bits(alone, surface_of(again)));
        }
      }
    }
  }
}

TEST_CASE("in pieces the same triangles follow each other") {
  MpiCommunicator world(test_ranks());
  const FakeCubes cubes(6, Made::mixed);
  const std::string yaml = "{variable: n, values: [0.3, 0.8], pieces: true}";
  const Surface whole = make(isosurface_kind(), yaml, lists(cubes.mesh(), 1, 0, radius));
  const CapturedResults made = run_lists(isosurface_kind(), yaml, lists(cubes.mesh(), 5, 1, radius), world);
  if (world.rank() != 0) return;
  const Surface pieces = surface_of(made);  // points at the seams are in two pieces
  REQUIRE(pieces.triangles.size() == whole.triangles.size());
  for (std::size_t t = 0; t < whole.triangles.size(); ++t) {
    for (std::size_t v = 0; v < 3; ++v) {
      CHECK(pieces.points[static_cast<std::size_t>(pieces.triangles[t][v])] ==
            whole.points[static_cast<std::size_t>(whole.triangles[t][v])]);
    }
  }
}

TEST_CASE("without numbers blocks stand side by side, and flagged cells count once") {
  const FakeCubes cubes(8, Made::mixed);
  const std::string yaml = "{variable: n, values: 0.7}";
  const Surface whole = make(isosurface_kind(), yaml, lists(cubes.mesh(), 1, 0, radius));
  const Surface apart =
      make(isosurface_kind(), yaml, lists(cubes.mesh(), 4, 0, radius, {.points = false, .cells = false}));
  CHECK(area(apart) == doctest::Approx(area(whole)).epsilon(1e-12));
  CHECK(apart.triangles.size() == whole.triangles.size());
  CHECK(apart.points.size() > whole.points.size());
  const Surface flagged = make(isosurface_kind(), yaml, lists(cubes.mesh(), 4, 1, radius, {.flags = true}));
  CHECK(same_bits(flagged, whole));
}

TEST_CASE("cells of two dimensions give lines, and along z the plane they are") {
  const FakeMesh square = flat_mesh(24);
  for (const int blocks : {1, 3}) {
    const FakeLists mesh = lists(square, blocks, 1, radius, {}, 2);
    const Surface s = make(isosurface_kind(), "{variable: n, values: 0.6}", mesh);
    CHECK(s.triangles.empty());
    CHECK(length_of(s) == doctest::Approx(2 * std::numbers::pi * 0.6).epsilon(0.01));
    std::map<std::int64_t, int> starts, ends;
    double inside = 0;
    for (const auto& [a, b] : s.lines) {
      ++starts[a];
      ++ends[b];
      inside += 0.5 * (s.points[a][0] * s.points[b][1] - s.points[a][1] * s.points[b][0]);
    }
    CHECK(starts == ends);
    CHECK(inside == doctest::Approx(-std::numbers::pi * 0.36).epsilon(0.01));  // lower values are on the right
    CHECK(length_of(make(slice_kind(), "{variable: n, axis: x, position: 0}", mesh)) == doctest::Approx(2));
    CHECK(length_of(make(slice_kind(), "{variable: c, axis: y, position: 0.1}", mesh)) == doctest::Approx(2));
    for (const char* variable : {"n", "c"}) {
      const Surface all = make(slice_kind(), fmt::format("{{variable: {}, axis: z}}", variable), mesh);
      CHECK(area(all) == doctest::Approx(4));
      for (std::size_t t = 0; t < all.triangles.size(); ++t) CHECK(spanned(all, t)[2] > 0);
    }
  }
  // In three dimensions, a mesh may have both cells and faces.
  FakeMesh both = FakeCubes(4, Made::hexahedra, 0).mesh();
  both.cells.push_back({9, {0, 1, 6, 5}});
  const Surface s = make(slice_kind(), "{variable: n, axis: x, position: -0.7}", lists(both, 2, 1, radius));
  CHECK(area(s) == doctest::Approx(4));
  CHECK(length_of(s) == doctest::Approx(0.5));
}

TEST_CASE("nothing is where a number is missing, and cells that have collapsed do no harm") {
  FakeMesh cubes = FakeCubes(6, Made::hexahedra, 0).mesh();
  const auto torn = [](const Place& x) { return norm(x) < 0.01 ? std::nan("") : x[2]; };
  const Surface s = make(isosurface_kind(), "{variable: n, values: 0.1}", lists(cubes, 2, 1, torn));
  CHECK(area(s) == doctest::Approx(4 - 4.0 / 9));
  // A hexahedron whose top is one point, another that is flat, and a tetrahedron with the same point twice.
  cubes.cells = {{12, {0, 1, 8, 7, 50, 50, 50, 50}}, {12, {0, 1, 8, 7, 0, 1, 8, 7}}, {10, {0, 1, 50, 50}}};
  const Surface odd = make(slice_kind(), "{variable: n, axis: x, position: -0.9}", lists(cubes, 2, 1, radius));
  CHECK(edges_of(odd).sound);
  CHECK(area(odd) > 0);
  CHECK(make(slice_kind(), "{variable: n, axis: x, position: 0}", lists({}, 2, 1, radius)).points.empty());
}

TEST_CASE("what cannot be had is said") {
  const FakeMesh cubes = FakeCubes(2, Made::hexahedra).mesh();
  const auto refusal = [](const AnalysisKind& kind, const std::string& yaml, const FakeMesh& mesh) {
    return message_of([&] { make(kind, yaml, lists(mesh, 1, 0, radius)); });
  };
  CHECK(contains(refusal(render_kind(), "{isosurface: {variable: c, component: 0, values: 1}}", cubes),
                 "'c' lies in the cells of mesh 'm', which is unstructured"));
  CHECK(contains(refusal(isosurface_kind(), "{variable: n, values: 1, fields: [c]}", cubes),
                 "have to lie at points, wherever the surface's variable lies: average 'c'"));
  CHECK(contains(refusal(isosurface_kind(), "{variable: c, component: 0, values: 1, fields: [c]}", cubes),
                 "leave it out of `fields`"));
  CHECK(contains(refusal(slice_kind(), "{variable: n, axis: x}", cubes), "as `position`"));
  const auto with = [&](FakeCell cell) {
    FakeMesh mesh = cubes;
    mesh.cells.push_back(std::move(cell));
    return refusal(slice_kind(), "{variable: n, axis: x, position: 0}", mesh);
  };
  CHECK(contains(with({72, {0, 1, 2, 3}}), "cell 8 of block 0 of the mesh 'm' has VTK's type 72"));
  CHECK(contains(with({12, {0, 1, 2, 3}}), "cell 8 of block 0 of the mesh 'm' has 4 points, but its type 12 has 8"));
  // A tetrahedron without one of its faces.
  CHECK(contains(with({42, {0, 1, 3, 9}, {{0, 1, 3}, {0, 1, 9}, {1, 3, 9}}}), "a polyhedron whose faces do not close"));
}

TEST_CASE("a periodic code's numbers of points join nothing across the mesh") {
  const FakeCubes cubes(6, Made::hexahedra);
  FakeNames periodic;
  periodic.numbering = periodic_numbering(6);
  const auto corner = [](const Place& x) { return norm({x[0] - 1, x[1] - 1, x[2] - 1}); };
  MpiCommunicator world(test_ranks());
  for (const int blocks : {1, 2, 5}) {
    CAPTURE(blocks);
    const auto with = [&](int parts, const FakeNames& names) {
      return FakeLists(cubes.mesh(), 3, dealt(cubes.mesh(), parts, 0), parts, corner, corner, names);
    };
    const FakeLists plain = with(blocks, {}), numbered = with(blocks, periodic);
    for (const auto& [kind, yaml] : {std::pair(slice_kind(), "{variable: n, axis: z, position: 0.1}"),
                                     std::pair(slice_kind(), "{variable: c, normal: [1, 2, 3], origin: [0, 0, 0]}"),
                                     std::pair(isosurface_kind(), "{variable: n, values: [1, 2], normals: true}"),
                                     // Means at points and of slopes are not those of the cells at the other end.
                                     std::pair(isosurface_kind(), "{variable: c, component: 0, values: 1.9}")}) {
      CAPTURE(yaml);
      const Surface wanted = make(kind, yaml, plain);
      const CapturedResults found = run_lists(kind, yaml, numbered, world);
      if (world.rank() != 0) continue;
      const Surface s = surface_of(found);
      CHECK(area(s) == doctest::Approx(area(wanted)).epsilon(1e-12));
      CHECK(s.points.size() == wanted.points.size());
      CHECK(s.triangles.size() == wanted.triangles.size());
      for (const auto& [a, b, c] : s.triangles) {
        CHECK(norm(minus(s.points[static_cast<std::size_t>(a)], s.points[static_cast<std::size_t>(b)])) < 0.8);
        CHECK(norm(minus(s.points[static_cast<std::size_t>(b)], s.points[static_cast<std::size_t>(c)])) < 0.8);
      }
      CHECK(same_bits(s, make(kind, yaml, with(1, periodic))));
    }
  }
}

TEST_CASE("copies of a point that blocks have rounded differently are one") {
  FakeMesh mesh = FakeCubes(4, Made::hexahedra, 0).mesh();
  FakeNames names;
  names.cells = false;
  // Every block has its own copies of the mesh's points, with the same numbers.
  const std::size_t points = mesh.places.size();
  const std::vector<int> block_of = dealt(mesh, 2, 0);
  for (std::size_t p = 0; p < points; ++p) {
    Place moved = mesh.places[p];
    for (double& x : moved) x += 1e-9;
    mesh.places.push_back(moved);
  }
  for (std::size_t c = 0; c < mesh.cells.size(); ++c) {
    if (block_of[c] == 0) continue;
    for (std::int64_t& p : mesh.cells[c].points) p += static_cast<std::int64_t>(points);
  }
  names.numbering = [points](std::int64_t p) { return p % static_cast<std::int64_t>(points); };
  const Surface s = make(slice_kind(), "{variable: n, axis: x, position: 0.1}",
                         FakeLists(mesh, 3, block_of, 2, radius, radius, names));
  const Edges edges = edges_of(s);
  CHECK(edges.sound);
  CHECK(parts(s) == 1);
  CHECK(area(s) == doctest::Approx(4));
  CHECK(s.points.size() == 25);
}
