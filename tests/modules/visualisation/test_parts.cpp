// Thresholds and clips of every kind of mesh, compared with brute force; the same bytes for every division.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>

#include "data/mesh_arrays.hpp"
#include "modules/visualisation/part_checks.hpp"
#include "sidestream/error.hpp"
#include "sidestream/kit/data/selected_arrays.hpp"
#include "support/fake_lists.hpp"
#include "support/list_blocks.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"
#include "visualisation/extract/part_query.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Waves with a hole that has no values.
double waves(const Vector& x) {
  if (norm(minus(x, {0.5, 0.25, 0.25})) < 0.2) return nan;
  return std::sin(5 * x[0]) + std::cos(4 * x[1]) * std::cos(3 * x[2]);
}
double linear(const Vector& x) { return 2 * x[0] - 3 * x[1] + 0.5 * x[2] + 1; }
double radius(const Vector& x) { return norm(x); }

CellSet set_of(const CapturedResults& results) {
  REQUIRE(results.cell_sets.size() == 1);
  return results.cell_sets.begin()->second;
}

CellSet make(const AnalysisKind& kind, const std::string& yaml, const FakeDomain& domain, const Division& division) {
  return set_of(run_alone(kind, yaml, domain, division, {.ghosts = 1, .partials = 2}));
}

std::vector<Division> divisions(const Box& cells) {
  std::vector<Division> all{{cells}};
  for (const std::size_t blocks : ends_of({2, 5, 8})) {
    if (cells.count() >= 4 * static_cast<Index>(blocks)) all.push_back(random_division(cells, blocks, 2));
  }
  return all;
}

/// A mesh of one to three dimensions, with `c` in cells and `n` at nodes.
FakeDomain boxes(int dimensions, bool uniform) {
  const Index3 sizes[] = {{17, 1, 1}, {9, 7, 1}, {8, 6, 5}};
  const Index3 n = sizes[dimensions - 1];
  std::shared_ptr<const Geometry> geometry =
      std::make_shared<UniformGeometry>(std::array{-1.0, -0.5, -0.5}, std::array{0.25, 0.125, 0.25});
  if (!uniform) {
    std::array<std::vector<double>, 3> nodes;
    for (std::size_t a = 0; a < 3; ++a) {
      for (Index i = 0; i <= n[a]; ++i) {
        nodes[a].push_back(-1 + 0.2 * static_cast<double>(i) + 0.01 * static_cast<double>(i * i));
      }
    }
    geometry = std::make_shared<RectilinearGeometry>(Index3{0, 0, 0}, nodes);
  }
  const auto value = [](const Vector& x, const Index3&, int c) { return c == 0 ? waves(x) : linear(x); };
  return FakeDomain({{0, 0, 0}, n}, geometry,
                    {{"c", value, Centering::cell, 2, Type::float32},
                     {"n", value, Centering::node, 1},
                     {"lin", [](const Vector& x, const Index3&, int) { return linear(x); }, Centering::node}},
                    dimensions);
}

/// The indices of cells in which a variable is in the range, found by looking at all cells.
std::vector<Index3> expected_cells(const FakeDomain& domain, std::size_t field, double low, double high, bool any) {
  std::vector<Index3> cells;
  const auto in = [&](const Index3& p) {
    const double value = domain.fields[field].type == Type::float32
                             ? static_cast<double>(static_cast<float>(domain.value(field, p, 0)))
                             : domain.value(field, p, 0);
    return value >= low && value <= high;
  };
  const Box& all = domain.mesh().cells;
  const int corners = 1 << domain.mesh().dimensions;
  for (Index k = all.lo[2]; k < all.hi[2]; ++k) {
    for (Index j = all.lo[1]; j < all.hi[1]; ++j) {
      for (Index i = all.lo[0]; i < all.hi[0]; ++i) {
        const bool in_cells = domain.fields[field].centering == Centering::cell;
        int found = 0;
        for (int c = 0; c < (in_cells ? 1 : corners); ++c) found += in({i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)});
        const bool chosen = in_cells || any ? found > 0 : found == corners;
        if (chosen) cells.push_back({i, j, k});
      }
    }
  }
  return cells;
}

void check_box_cells(const CellSet& set, const FakeDomain& domain, const std::vector<Index3>& expected) {
  REQUIRE(set.types.size() == expected.size());
  const Axes& axes = *domain.mesh().axes();
  const int dimensions = domain.mesh().dimensions;
  const std::uint8_t types[] = {3, 8, 11};
  bool right = true;
  for (std::size_t n = 0; n < expected.size(); ++n) {
    right &= set.types[n] == types[dimensions - 1];
    const std::vector<std::size_t> points = points_of_cell(set, n);
    REQUIRE(points.size() == std::size_t{1} << dimensions);
    for (std::size_t c = 0; c < points.size(); ++c) {
      for (int a = 0; a < 3; ++a) {
        const Index node = expected[n][a] + (a < dimensions ? static_cast<Index>(c >> a & 1) : 0);
        right &= set.points[points[c]][static_cast<std::size_t>(a)] == axes.node(a, node);
      }
    }
  }
  CHECK(right);
  CHECK(points_are_once(set));
}

}  // namespace

TEST_CASE("cells in a range are those that a look at all of them finds") {
  for (const bool uniform : {true, false}) {
    for (const int dimensions : {1, 2, 3}) {
      CAPTURE(dimensions);
      const FakeDomain domain = boxes(dimensions, uniform);
      for (const Division& division : divisions(domain.mesh().cells)) {
        check_box_cells(
            make(threshold_kind(), "{variable: c, component: 0, minimum: 0.25, maximum: 1.1}", domain, division),
            domain, expected_cells(domain, 0, 0.25, 1.1, false));
        check_box_cells(make(threshold_kind(), "{variable: n, minimum: 0.25}", domain, division), domain,
                        expected_cells(domain, 1, 0.25, INFINITY, false));
        check_box_cells(make(threshold_kind(), "{variable: n, maximum: 0.25, points: any}", domain, division), domain,
                        expected_cells(domain, 1, -INFINITY, 0.25, true));
        check_box_cells(make(threshold_kind(), "{variable: n, minimum: 100}", domain, division), domain, {});
      }
    }
  }
}

TEST_CASE("values come along, and those of blocks that have none are NaN") {
  const FakeDomain domain = boxes(3, true);
  const CellSet set = make(threshold_kind(), "{variable: n, minimum: 0, fields: [c, lin]}", domain,
                           random_division(domain.mesh().cells, 5, 3));
  REQUIRE(set.point_data.size() == 2);
  REQUIRE(set.cell_data.size() == 1);
  CHECK(set.point_data[0].name == "n");
  CHECK(set.cell_data[0].components == 2);
  const std::vector<Index3> cells = expected_cells(domain, 1, 0, INFINITY, false);
  for (std::size_t p = 0; p < set.points.size(); ++p) {
    CHECK(set.point_data[0].values[p] == waves(set.points[p]));
    CHECK(set.point_data[1].values[p] == linear(set.points[p]));
  }
  for (std::size_t n = 0; n < cells.size(); ++n) {
    CHECK(set.cell_data[0].values[2 * n + 1] == static_cast<double>(static_cast<float>(domain.value(0, cells[n], 1))));
  }
}

TEST_CASE("what a plane or a box leaves has its exact volume, and both sides are the whole") {
  for (const int dimensions : {1, 2, 3}) {
    CAPTURE(dimensions);
    const FakeDomain domain = boxes(dimensions, true);
    const double whole =
        size_of(make(clip_kind(), "{variable: n, axis: x, position: -1}", domain, {domain.mesh().cells}));
    const double across = dimensions == 1 ? 1 : dimensions == 2 ? 0.875 : 0.75 * 1.25;
    CHECK(whole == doctest::Approx((dimensions == 1 ? 4.25 : dimensions == 2 ? 2.25 * 0.875 : 2 * across)));
    for (const Division& division : divisions(domain.mesh().cells)) {
      const CellSet right =
          make(clip_kind(), "{variable: n, axis: x, position: 0.1, fields: [c, lin]}", domain, division);
      const CellSet left = make(clip_kind(), "{variable: n, axis: x, position: 0.1, side: below}", domain, division);
      CHECK(size_of(left) == doctest::Approx(1.1 * across));
      CHECK(size_of(left) + size_of(right) == doctest::Approx(whole));
      CHECK(points_are_once(right));
      for (std::size_t p = 0; p < right.points.size(); ++p) {
        CHECK(right.points[p][0] >= 0.1 - 1e-15);
        CHECK(right.point_data[1].values[p] == doctest::Approx(linear(right.points[p])));
      }
      const std::string box = "{variable: c, low: [-0.3, -0.2, -0.4], high: [0.6, 0.21, 0.33], ";
      const CellSet inside = make(clip_kind(), box + "keep: inside}", domain, division);
      const CellSet outside = make(clip_kind(), box + "keep: outside}", domain, division);
      const double volume = 0.9 * (dimensions > 1 ? 0.41 : 1) * (dimensions > 2 ? 0.73 : 1);
      CHECK(size_of(inside) == doctest::Approx(volume));
      CHECK(size_of(outside) == doctest::Approx(whole - volume));
      CHECK(points_are_once(inside));
      if (dimensions == 3) {
        const double area = 2 * (0.9 * 0.41 + 0.9 * 0.73 + 0.41 * 0.73);
        CHECK(outer_area(inside) == doctest::Approx(area));
      }
    }
  }
}

TEST_CASE("a sphere leaves about its volume, its surface exactly where edges cross it, and both sides are the whole") {
  const auto volume_of = [](int dimensions, double r) {
    return dimensions == 1 ? 2 * r : dimensions == 2 ? std::acos(-1.0) * r * r : 4.0 / 3 * std::acos(-1.0) * r * r * r;
  };
  for (const int dimensions : {1, 2, 3}) {
    CAPTURE(dimensions);
    const FakeDomain domain = boxes(dimensions, true);
    const double whole =
        size_of(make(clip_kind(), "{variable: n, axis: x, position: -1}", domain, {domain.mesh().cells}));
    const std::array<double, 3> centre{0.1, 0.03, -0.02};
    const double radius = 0.31;
    const std::string ball = fmt::format("{{variable: n, centre: [{}], radius: {}, fields: [c, lin], ",
                                         fmt::join(centre.begin(), centre.begin() + dimensions, ", "), radius);
    for (const Division& division : divisions(domain.mesh().cells)) {
      const CellSet inside = make(clip_kind(), ball + "keep: inside}", domain, division);
      const CellSet outside = make(clip_kind(), ball + "keep: outside}", domain, division);
      const double volume = volume_of(dimensions, radius);
      CHECK(size_of(inside) == doctest::Approx(volume).epsilon(dimensions == 1 ? 1e-12 : 0.25));
      CHECK(size_of(inside) <= volume * (1 + 1e-12));  // chords lie within a ball
      CHECK(size_of(inside) + size_of(outside) == doctest::Approx(whole));
      CHECK(points_are_once(inside));
      std::size_t on_it = 0;
      for (std::size_t p = 0; p < inside.points.size(); ++p) {
        double square = 0;
        for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
          square += (inside.points[p][a] - centre[a]) * (inside.points[p][a] - centre[a]);
        }
        CHECK(std::sqrt(square) <= radius * (1 + 1e-14));
        on_it += std::abs(std::sqrt(square) - radius) < 1e-14 ? 1 : 0;
        CHECK(inside.point_data[1].values[p] == doctest::Approx(linear(inside.points[p])));
      }
      CHECK(on_it >= (dimensions == 1 ? 2 : 8));
    }
  }
  // A finer mesh comes nearer, to second order.
  const auto missing = [&](Index cells) {
    const FakeDomain cube = fake_cube(cells, -1, 1, {{"n", [](const auto& x, const Index3&, int) { return x[0]; }}});
    return 1 - size_of(make(clip_kind(), "{variable: n, centre: [0.01, 0.02, 0.03], radius: 0.8}", cube,
                            {cube.mesh().cells})) /
                   volume_of(3, 0.8);
  };
  const double coarse = missing(8), fine = missing(16);
  CHECK(fine > 0);
  CHECK(coarse / fine == doctest::Approx(4).epsilon(0.2));
  CHECK(contains(
      message_of([&] { static_cast<void>(make(clip_kind(), "{variable: n, centre: [0, 0, 0]}", boxes(3, true), {})); }),
      "needs its `centre` and its `radius`"));
  CHECK(contains(message_of([&] {
                   static_cast<void>(
                       make(clip_kind(), "{variable: n, centre: [0, 0, 0], radius: 1, axis: x}", boxes(3, true), {}));
                 }),
                 "found `axis` beside"));
}

TEST_CASE("cells that are cut may be kept whole") {
  const FakeDomain domain = boxes(3, true);
  const CellSet set = make(clip_kind(), "{variable: c, axis: x, position: 0.1, whole_cells: true}", domain,
                           random_division(domain.mesh().cells, 5, 3));
  CHECK(set.types.size() == 4 * 6 * 5);  // the planes of cells from 0
  CHECK(std::all_of(set.types.begin(), set.types.end(), [](std::uint8_t type) { return type == 11; }));
  // A box that lies within one cell, and has none of its corners inside.
  const CellSet one =
      make(clip_kind(), "{variable: c, low: [0.05, 0.01, 0.05], high: [0.1, 0.02, 0.1], whole_cells: true}", domain,
           {domain.mesh().cells});
  CHECK(one.types.size() == 1);
}

TEST_CASE("a plane through faces of cells cuts none") {
  const FakeDomain domain = boxes(3, true);
  const CellSet set = make(clip_kind(), "{variable: c, axis: x, position: 0, side: below}", domain,
                           random_division(domain.mesh().cells, 5, 3));
  CHECK(set.types.size() == 4 * 6 * 5);
  CHECK(std::all_of(set.types.begin(), set.types.end(), [](std::uint8_t type) { return type == 11; }));
}

TEST_CASE("the same bytes for every division, on every number of servers") {
  MpiCommunicator world(test_ranks());
  const std::pair<AnalysisKind, std::string> all[] = {
      {threshold_kind(), "{variable: c, component: 0, minimum: 0.25, fields: [n, lin]}"},
      {threshold_kind(), "{variable: n, minimum: 0.25, maximum: 1, points: any, fields: [c]}"},
      {clip_kind(), "{variable: n, normal: [1, 2, -1], origin: [0.1, 0, 0.05], fields: [c, lin]}"},
      {clip_kind(), "{variable: c, low: [-0.3, -0.2, -0.4], high: [0.6, 0.21, 0.33], keep: outside, fields: [n]}"},
      {clip_kind(), "{variable: n, centre: [0.1, 0, 0.05], radius: 0.4, keep: outside, fields: [c, lin]}"}};
  for (const int dimensions : {1, 2, 3}) {
    const FakeDomain domain = boxes(dimensions, false);
    for (const auto& [kind, yaml] : all) {
      if (dimensions == 1 && yaml.find("normal") != std::string::npos) continue;
      if (dimensions < 3 && yaml.find("centre") != std::string::npos) continue;
      const CellSet expected = make(kind, yaml, domain, {domain.mesh().cells});
      REQUIRE(!expected.types.empty());
      for (const Division& division : divisions(domain.mesh().cells)) {
        const CapturedResults made = run_analysis(kind, yaml, domain, division, world, {.ghosts = 1, .partials = 2});
        if (world.rank() == 0) CHECK(same_bits(set_of(made), expected));
        // In pieces, the cells of the servers follow each other, with the points of each server.
        std::string shared = yaml;
        shared.replace(shared.size() - 1, 1, ", pieces: true}");
        const CapturedResults pieces =
            run_analysis(kind, shared, domain, division, world, {.ghosts = 1, .partials = 2});
        if (world.rank() != 0) continue;
        const CellSet joined = set_of(pieces);
        CHECK(joined.types == expected.types);
        REQUIRE(joined.links.size() == expected.links.size());
        bool same = true;
        for (std::size_t n = 0; n < joined.links.size(); ++n) {
          same &= joined.points[static_cast<std::size_t>(joined.links[n])] ==
                  expected.points[static_cast<std::size_t>(expected.links[n])];
        }
        CHECK(same);
      }
    }
  }
}

TEST_CASE("cells of a block that was not delivered are not there, and those around it are") {
  const FakeDomain domain = boxes(3, true);
  const Division division = even_division(domain.mesh().cells, {4, 1, 1});
  const CellSet set = set_of(run_alone(threshold_kind(), "{variable: c, component: 1, minimum: -100}", domain, division,
                                       {.ghosts = 1, .partials = 1, .absent = {2}}));
  CHECK(set.types.size() == 3 * 2 * 6 * 5);
}

namespace {

/// A curvilinear mesh of sheared boxes, whose faces stay flat.
FakeDomain sheared(int dimensions) {
  const Index3 n{6, dimensions > 1 ? 5 : 1, dimensions > 2 ? 4 : 1};
  const auto place = [](const Index3& p) {
    const double i = static_cast<double>(p[0]), j = static_cast<double>(p[1]), k = static_cast<double>(p[2]);
    return Vector{i + 0.3 * j + 0.05 * i * i, j - 0.2 * k, k + 0.1 * k * k};
  };
  FakeDomain domain(
      {{0, 0, 0}, n}, std::make_shared<ArrayGeometry>(MeshKind::curvilinear),
      {{"c", [](const Vector&, const Index3& p, int) { return static_cast<double>(p[0] + p[1] * p[2]); }},
       {"n", [=](const Vector&, const Index3& p, int) { return linear(place(p)); }, Centering::node},
       {"pos", [=](const Vector&, const Index3& p, int d) { return place(p)[static_cast<std::size_t>(d)]; },
        Centering::node, dimensions}},
      dimensions);
  assign_role(domain.metadata, "grid", Role::coordinates, "pos");
  return domain;
}

}  // namespace

TEST_CASE("curvilinear meshes are cut where they are") {
  MpiCommunicator world(test_ranks());
  for (const int dimensions : {1, 2, 3}) {
    const FakeDomain domain = sheared(dimensions);
    const Box& cells = domain.mesh().cells;
    const CellSet all = make(threshold_kind(), "{variable: c, minimum: -1}", domain, {cells});
    CHECK(all.types.size() == static_cast<std::size_t>(cells.count()));
    CHECK(all.types[0] == (dimensions == 1 ? 3 : dimensions == 2 ? 9 : 12));
    for (const char* plane : {"axis: x, position: 2.2", "normal: [1, 0.3, 0], origin: [3, 1, 0]"}) {
      if (dimensions == 1 && plane[0] == 'n') continue;
      const std::string yaml = fmt::format("{{variable: n, {}, fields: [c]", plane);
      const CellSet above = make(clip_kind(), yaml + "}", domain, {cells});
      const CellSet below = make(clip_kind(), yaml + ", side: below}", domain, {cells});
      CHECK(size_of(above) + size_of(below) == doctest::Approx(size_of(all)).epsilon(1e-12));
      for (std::size_t p = 0; p < above.points.size(); ++p) {
        CHECK(above.point_data[0].values[p] == doctest::Approx(linear(above.points[p])).epsilon(1e-9));
      }
      for (const Division& division : divisions(cells)) {
        const CapturedResults made = run_analysis(clip_kind(), yaml + "}", domain, division, world, {.ghosts = 1});
        if (world.rank() == 0) CHECK(same_bits(set_of(made), above));
      }
    }
  }
}

namespace {

std::vector<int> dealt(const FakeMesh& mesh, int blocks, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> block_of(mesh.cells.size());
  for (int& block : block_of) block = static_cast<int>(random() % static_cast<unsigned>(blocks));
  return block_of;
}

FakeLists lists(const FakeMesh& mesh, int blocks, const FakeNames& names = {}, int dimensions = 3) {
  return FakeLists(mesh, dimensions, dealt(mesh, blocks, 5), blocks, linear, radius, names);
}

}  // namespace

TEST_CASE("unstructured meshes of every kind of cell: both sides are the whole, and nothing is between cells") {
  MpiCommunicator world(test_ranks());
  using Made = FakeCubes::Made;
  for (const Made made :
       {Made::hexahedra, Made::voxels, Made::wedges, Made::pyramids, Made::tetrahedra, Made::polyhedra, Made::mixed}) {
    CAPTURE(static_cast<int>(made));
    const FakeCubes cubes(4, made, 0);
    const std::string plane = "{variable: n, normal: [3, 1, 2], origin: [0.1, 0.2, 0.03], fields: [c]";
    const CellSet above = set_of(run_lists(clip_kind(), plane + "}", lists(cubes.mesh(), 1)));
    const CellSet below = set_of(run_lists(clip_kind(), plane + ", side: below}", lists(cubes.mesh(), 1)));
    CHECK(size_of(above) + size_of(below) == doctest::Approx(8));
    const std::string ball = "{variable: n, centre: [0.1, 0.2, 0.03], radius: 0.7, keep: ";
    const CellSet inside = set_of(run_lists(clip_kind(), ball + "inside}", lists(cubes.mesh(), 3)));
    const CellSet outside = set_of(run_lists(clip_kind(), ball + "outside}", lists(cubes.mesh(), 2)));
    CHECK(size_of(inside) + size_of(outside) == doctest::Approx(8));
    CHECK(size_of(inside) > 1);
    // The outer faces are those of the cube and those of the cut.
    CHECK(outer_area(above) > 0);
    const CellSet box = set_of(
        run_lists(clip_kind(), "{variable: c, low: [-0.61, -0.33, -0.87], high: [0.39, 0.67, 0.13], fields: [n]}",
                  lists(cubes.mesh(), 3)));
    CHECK(size_of(box) == doctest::Approx(1));
    CHECK(outer_area(box) == doctest::Approx(6));
    CHECK(points_are_once(box));
    for (std::size_t p = 0; p < box.points.size(); ++p) {
      CHECK(box.point_data[0].values[p] == doctest::Approx(linear(box.points[p])));
    }
    for (const bool cell_ids : {true, false}) {
      const FakeNames names{.points = true, .cells = cell_ids, .shuffled = cell_ids, .flags = cell_ids};
      for (const auto& [kind, yaml] :
           {std::pair{clip_kind(), plane + "}"},
            {threshold_kind(), std::string("{variable: c, component: 0, minimum: 0.9, fields: [n]}")},
            {threshold_kind(), std::string("{variable: n, maximum: 2, points: any}")}}) {
        const CellSet expected =
            set_of(run_lists(kind, yaml, lists(cubes.mesh(), 1, {true, cell_ids, cell_ids, false})));
        REQUIRE(!expected.types.empty());
        for (const int blocks : {2, 5, 7}) {
          const CapturedResults results = run_lists(kind, yaml, lists(cubes.mesh(), blocks, names), world);
          if (world.rank() == 0) CHECK(same_bits(set_of(results), expected));
        }
      }
    }
  }
}

TEST_CASE("unstructured cells in a range are those that a look at all of them finds") {
  const FakeCubes cubes(5, FakeCubes::Made::mixed, 0.1);
  std::size_t all = 0, any = 0;
  for (const FakeCell& cell : cubes.mesh().cells) {
    const auto in = [&](std::int64_t p) { return linear(cubes.mesh().places[static_cast<std::size_t>(p)]) <= 0.5; };
    all += std::all_of(cell.points.begin(), cell.points.end(), in);
    any += std::any_of(cell.points.begin(), cell.points.end(), in);
  }
  CHECK(set_of(run_lists(threshold_kind(), "{variable: n, maximum: 0.5}", lists(cubes.mesh(), 4))).types.size() == all);
  CHECK(set_of(run_lists(threshold_kind(), "{variable: n, maximum: 0.5, points: any}", lists(cubes.mesh(), 4)))
            .types.size() == any);
}

namespace {

/// Particles dealt out to blocks. Some are flagged copies, and some are at the same place.
struct Cloud {
  ListDomain domain;
  std::vector<ListBlock> blocks;
  Cloud(std::size_t count, std::size_t parts, bool numbered, unsigned deal) : domain(MeshKind::points, 3) {
    domain.add("pos", Type::float64, 3, Centering::node, Role::coordinates);
    domain.add("flags", Type::uint8, 1, Centering::node, Role::point_ghosts);
    if (numbered) domain.add("ids", Type::int64, 1, Centering::node, Role::point_ids);
    domain.add("w", Type::float64, 1, Centering::node);
    std::mt19937 random(7), dealer(deal);
    std::uniform_real_distribution<double> place(-1, 1);
    std::vector<std::vector<double>> pos(parts), w(parts);
    std::vector<std::vector<std::uint8_t>> flags(parts);
    std::vector<std::vector<std::int64_t>> ids(parts);
    for (std::size_t n = 0; n < count; ++n) {
      Vector x{place(random), place(random), place(random)};
      if (n % 10 == 0) x = {0.5, 0.5, 0.5};
      const std::size_t part = dealer() % parts;
      for (const bool ghost : {true, false}) {
        if (ghost && n % 7 != 0) continue;
        const std::size_t in = ghost ? (part + 1) % parts : part;
        pos[in].insert(pos[in].end(), x.begin(), x.end());
        w[in].push_back(ghost ? 1e30 : static_cast<double>(n));
        flags[in].push_back(ghost ? 1 : 0);
        ids[in].push_back(static_cast<std::int64_t>((n * 7919) % 100003));
      }
    }
    for (std::size_t part = 0; part < parts; ++part) {
      const auto points = static_cast<Index>(flags[part].size());
      blocks.push_back({points, points, 0, {}});
      blocks.back().values = {{"pos", pos[part]}, {"flags", flags[part]}, {"ids", ids[part]}, {"w", w[part]}};
    }
  }
};

}  // namespace

TEST_CASE("particles in a range, and on one side") {
  MpiCommunicator world(test_ranks()), self(MPI_COMM_SELF);
  for (const bool numbered : {true, false}) {
    for (const auto& [kind, yaml, expected] :
         {std::tuple{threshold_kind(), "{variable: w, minimum: 100, maximum: 249}", std::size_t{150}},
          {clip_kind(), "{variable: w, axis: x, position: 2, side: below}", std::size_t{500}},
          {clip_kind(), "{variable: w, low: [0.5, 0.5, 0.5], high: [0.5000001, 0.6, 0.6]}", std::size_t{50}}}) {
      const Cloud one(500, 1, numbered, 1);
      const CellSet alone = set_of(run_lists(kind, yaml, one.domain, one.blocks, self));
      CHECK(alone.types.size() == expected);
      CHECK(alone.points.size() == expected);
      for (const std::size_t parts : {2u, 5u, 8u}) {
        const Cloud many(500, parts, numbered, 3);
        const CapturedResults results = run_lists(kind, yaml, many.domain, many.blocks, world, 2);
        if (world.rank() == 0) CHECK(same_bits(set_of(results), alone));
      }
    }
  }
}

namespace {

/// Area of the triangles of all blocks.
double seen_area(const std::vector<Piece>& pieces) {
  double area = 0;
  for (const Piece& piece : pieces) {
    for (const auto& [a, b, c] : piece.triangles) {
      area += norm(cross(minus(piece.points[static_cast<std::size_t>(b)], piece.points[static_cast<std::size_t>(a)]),
                         minus(piece.points[static_cast<std::size_t>(c)], piece.points[static_cast<std::size_t>(a)]))) /
              2;
    }
  }
  return area;
}

}  // namespace

TEST_CASE("of a picture the faces between cells are left out, also those between blocks") {
  for (const char* variable : {"c", "lin"}) {
    const FakeDomain domain = boxes(3, true);
    ClipQuery clip;
    clip.variables = {domain.metadata.find_variable(variable)->id};
    clip.neighbours = true;
    clip.region.planes = {{{0.1, 0, 0}, {1, 0, 0}}};
    ThresholdQuery threshold;
    threshold.variables = clip.variables;
    threshold.neighbours = true;
    threshold.low = -1000;
    for (const Division& division : divisions(domain.mesh().cells)) {
      std::vector<std::size_t> mine;
      for (std::size_t n = 0; n < division.size(); ++n) mine.push_back(n);
      const Selection selection(with_mesh_arrays(selection_of(clip, domain.metadata), domain.metadata));
      const FakeServer server(domain, division, mine, selection, 1);
      const Iteration iteration;
      const LocalInput input{iteration, domain.metadata, server.views(), 0, {}};
      CHECK(seen_area(extract(clip, input)) == doctest::Approx(2 * (0.9 * 0.75 + 0.9 * 1.25 + 0.75 * 1.25)));
      if (domain.metadata.find_variable(variable)->centering == Centering::cell) continue;
      CHECK(seen_area(extract(threshold, input)) == doctest::Approx(2 * (2 * 0.75 + 2 * 1.25 + 0.75 * 1.25)));
    }
  }
}

TEST_CASE("mistakes get a sentence") {
  const FakeDomain domain = boxes(3, true);
  const auto message = [&](const AnalysisKind& kind, const std::string& yaml) {
    return message_of([&] { static_cast<void>(make(kind, yaml, domain, {domain.mesh().cells})); });
  };
  CHECK(contains(message(threshold_kind(), "{variable: n}"), "neither `minimum` nor `maximum`"));
  CHECK(contains(message(threshold_kind(), "{variable: n, minimum: 2, maximum: 1}"), "a range from 2 to 1"));
  CHECK(contains(message(threshold_kind(), "{variable: c, minimum: 2}"), "has 2 components"));
  CHECK(contains(message(threshold_kind(), "{variable: c, component: 0, minimum: 2, points: any}"), "lies in cells"));
  CHECK(contains(message(threshold_kind(), "{variable: n, minimum: 2, fields: [n]}"), "leave it out"));
  CHECK(contains(message(clip_kind(), "{variable: n}"), "what to clip with is missing"));
  CHECK(contains(message(clip_kind(), "{variable: n, axis: x, position: 0, keep: outside}"), "`keep` goes with a box"));
  CHECK(contains(message(clip_kind(), "{variable: n, axis: x, low: [0, 0, 0], high: [1, 1, 1]}"), "describes a plane"));
  CHECK(contains(message(clip_kind(), "{variable: n, low: [0, 0, 0]}"), "both of its corners"));
  CHECK(contains(message(clip_kind(), "{variable: n, low: [0, 0], high: [1, 1, 1]}"), "expected 3"));
  CHECK(contains(message(clip_kind(), "{variable: n, low: [0, 0, 2], high: [1, 1, 1]}"), "from 2 to 1 on axis z"));
  CHECK(contains(message(clip_kind(), "{variable: n, axis: x, position: 70}"), "does not meet mesh"));
}

TEST_CASE("cells that touch both ends of a periodic code's numbering stay where they are") {
  MpiCommunicator world(test_ranks());
  const FakeCubes cubes(4, FakeCubes::Made::hexahedra, 0);
  FakeNames periodic;
  periodic.numbering = periodic_numbering(4);
  const std::vector<std::pair<AnalysisKind, std::string>> parts{
      {threshold_kind(), "{variable: n, minimum: -100}"},
      {threshold_kind(), "{variable: n, minimum: -100, pieces: true}"},
      {clip_kind(), "{variable: n, normal: [3, 1, 2], origin: [0.1, 0.2, 0.03]}"}};
  for (const auto& [kind, yaml] : parts) {
    CAPTURE(yaml);
    const CellSet wanted = set_of(run_lists(kind, yaml, lists(cubes.mesh(), 3)));
    const CapturedResults found = run_lists(kind, yaml, lists(cubes.mesh(), 3, periodic), world);
    if (world.rank() != 0) continue;
    const CellSet set = set_of(found);
    const bool whole = kind.name == "threshold";  // a clip's cells depend on the numbers of points
    CHECK((!whole || set.types.size() == wanted.types.size()));
    CHECK(size_of(set) == doctest::Approx(size_of(wanted)).epsilon(1e-12));
    if (yaml.find("true") != std::string::npos) continue;  // points are in the piece of each server that has them
    CHECK((!whole || set.points.size() == wanted.points.size()));
    CHECK(outer_area(set) == doctest::Approx(outer_area(wanted)).epsilon(1e-12));
  }
}
