// Probes of fields that interpolation gives back exactly; the same bits for every division.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "support/fake_domain.hpp"
#include "support/list_blocks.hpp"
#include "support/ranks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double linear(const std::array<double, 3>& x, const Index3&, int c) { return 2 * x[0] - 3 * x[1] + x[2] + 10 * c; }
double wave(const std::array<double, 3>& x, const Index3&, int c) {
  return std::sin(5 * x[0]) * std::cos(4 * x[1]) + x[2] + c;
}

FakeDomain uneven(std::vector<FakeField> fields, int dimensions = 3) {
  const std::vector<double> x{-1, -0.5, -0.25, 0.75, 1}, y{0, 0.1, 0.3, 0.7, 1.5, 1.6}, z{3, 2, 1.5, 1.25};
  const Box cells{{0, 0, 0}, {4, 5, dimensions > 2 ? 3 : 1}};
  const std::array nodes{x, y, dimensions > 2 ? z : std::vector<double>{0, 0}};
  return FakeDomain(cells, std::make_shared<RectilinearGeometry>(Index3{0, 0, 0}, nodes), std::move(fields),
                    dimensions);
}

Table alone(const FakeDomain& domain, const std::string& yaml, const Division& division, const FakeRun& how = {}) {
  return run_alone(probe_kind(), yaml, domain, division, how).tables.at("probe.csv");
}

double real(const Table& table, std::size_t row, const std::string& column) {
  const auto at = std::ranges::find(table.columns(), column, &Column::name) - table.columns().begin();
  return std::get<double>(table.at(row, static_cast<std::size_t>(at)));
}

const std::string in_space = "line: {from: [-0.9, 0.07, 2.8], to: [0.95, 1.58, 1.3], samples: 40}";

}  // namespace

TEST_CASE("between nodes and between centres linear fields are given back") {
  for (const Centering centering : every_centering) {
    const FakeDomain domain = uneven({{"a", linear, centering, 2}});
    const Table table = alone(domain, "{variables: a, cells: linear, " + in_space + "}",
                              random_division(domain.mesh().cells, 7, 2), {.ghosts = 1, .partials = 2});
    REQUIRE(table.rows() == 40);
    for (std::size_t row = 0; row < 40; ++row) {
      const std::array x{real(table, row, "x"), real(table, row, "y"), real(table, row, "z")};
      // Values in cells stay constant beyond the outermost centres.
      std::array there = x;
      const auto& axes = *domain.mesh().axes();
      for (int a = 0; a < 3; ++a) {
        if (at_nodes(centering, a)) continue;
        const double first = axes.centre(a, 0), last = axes.centre(a, domain.mesh().cells.hi[a] - 1);
        there[a] = std::clamp(x[a], std::min(first, last), std::max(first, last));
      }
      for (int c = 0; c < 2; ++c) {
        REQUIRE(real(table, row, "a_" + std::to_string(c)) == doctest::Approx(linear(there, {}, c)).epsilon(1e-12));
      }
    }
    CHECK(real(table, 0, "x") == -0.9);
    CHECK(real(table, 39, "y") == 1.58);
  }
}

TEST_CASE("the cell's own value is that of the cell that a place is in") {
  const FakeDomain domain = uneven({{"a", wave}});
  const Table table = alone(domain, "{variables: a, " + in_space + "}", random_division(domain.mesh().cells, 9, 3));
  const Axes& axes = *domain.mesh().axes();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::array x{real(table, row, "x"), real(table, row, "y"), real(table, row, "z")};
    int found = 0;
    for (Index k = 0; k < 3; ++k) {
      for (Index j = 0; j < 5; ++j) {
        for (Index i = 0; i < 4; ++i) {
          const Index3 p{i, j, k};
          bool inside = true;
          for (int a = 0; a < 3; ++a) {
            const auto [low, high] = std::minmax({axes.node(a, p[a]), axes.node(a, p[a] + 1)});
            inside = inside && x[a] > low && x[a] < high;
          }
          if (!inside) continue;
          ++found;
          CHECK(real(table, row, "a") == domain.value(0, p, 0));
        }
      }
    }
    CHECK(found == 1);
  }
}

TEST_CASE("borders, corners, and places outside") {
  const FakeDomain domain =
      uneven({{"a", [](auto&, const Index3& p, int) { return p[0] + 10.0 * p[1] + 100.0 * p[2]; }}});
  const Table table =
      alone(domain,
            "{variables: a, point: [{at: [-1, 0, 3]}, {name: far, at: [1, 1.6, 1.25]}, {at: [-0.5, 0.3, 2]}, "
            "{at: [1.01, 1, 2]}, {at: [0, -0.01, 2]}, {at: [0, 1, 9]}]}",
            even_division(domain.mesh().cells, {2, 2, 3}));
  CHECK(real(table, 0, "a") == 0);
  CHECK(std::get<std::string>(table.at(1, 0)) == "far");
  CHECK(real(table, 1, "a") == 3 + 40 + 200);
  CHECK(real(table, 2, "a") == 1 + 20 + 100);
  for (std::size_t row = 3; row < 6; ++row) CHECK(std::isnan(real(table, row, "a")));
}

TEST_CASE("the same bits for every division and number of servers") {
  MpiCommunicator world(test_ranks());
  for (const Centering centering : {Centering::cell, Centering::node, Centering::z_face}) {
    for (const char* cells : {"own", "linear"}) {
      const FakeDomain domain =
          fake_cube(8, -1, 1, {{"a", wave, centering, 2, Type::float32, Order::row}, {"b", wave}});
      const std::string yaml = std::string("{variables: [a, b], cells: ") + cells +
                               ", line: {from: [-1, -1, -1], to: [1, 1, 1], samples: 33}, point: {at: [0.25, 0, 0.1]}}";
      const Table expected = alone(domain, yaml, {domain.mesh().cells});
      for (unsigned seed = 0; seed < 4; ++seed) {
        const Division division = random_division(domain.mesh().cells, 1 + 4 * seed, seed);
        const auto result =
            run_analysis(probe_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = 1 + seed});
        if (world.rank() == 0) CHECK(same_bits(result.tables.at("probe.csv"), expected));
      }
    }
  }
}

TEST_CASE("a line, a square, one cell; a variable that is called as a column") {
  const FakeDomain flat = uneven({{"x", linear, Centering::node}}, 2);
  const Table on_flat =
      alone(flat, "{variables: x, point: {at: [0.3, 1]}}", even_division(flat.mesh().cells, {2, 2, 1}));
  CHECK(real(on_flat, 0, "x_") == doctest::Approx(0.6 - 3));
  FakeDomain line({{0, 0, 0}, {5, 1, 1}},
                  std::make_shared<UniformGeometry>(std::array{0., 0., 0.}, std::array{2., 1., 1.}), {{"a", linear}},
                  1);
  CHECK(real(alone(line, "{variables: a, cells: linear, point: {at: 4}}", {line.mesh().cells}), 0, "a") ==
        doctest::Approx(8 + linear({0, 0.5, 0.5}, {}, 0)));
  FakeDomain one({{0, 0, 0}, {1, 1, 1}},
                 std::make_shared<UniformGeometry>(std::array{0., 0., 0.}, std::array{1., 1., 1.}), {{"a", linear}});
  CHECK(real(alone(one, "{variables: a, cells: linear, point: {at: [0.9, 0.9, 0.1]}}", {one.mesh().cells}), 0, "a") ==
        linear({0.5, 0.5, 0.5}, {}, 0));
}

TEST_CASE("blocks that were not delivered") {
  const FakeDomain domain = fake_cube(4, 0, 1, {{"a", linear}});
  const Division halves = even_division(domain.mesh().cells, {2, 1, 1});
  const std::string yaml = "{variables: a, cells: linear, point: [{at: [0.49, 0.4, 0.4]}, {at: [0.8, 0.4, 0.4]}]}";
  const Table table = alone(domain, yaml, halves, {.absent = {1}});
  CHECK(real(table, 0, "a") == domain.value(0, {1, 1, 1}, 0));  // the neighbour is missing: the cell's own value
  CHECK(std::isnan(real(table, 1, "a")));
}

namespace {

/// Tetrahedra that fill n^3 cubes, 6 for each, dealt out to blocks; coordinates are floats.
struct Tetrahedra {
  ListDomain domain{MeshKind::unstructured, 3};
  std::vector<ListBlock> blocks;

  Tetrahedra(Index n, std::size_t parts, unsigned seed, bool ids) {
    domain.add("pos", Type::float64, 3, Centering::node, Role::coordinates);
    domain.add("links", Type::int64, 1, Centering::cell, Role::connectivity);
    domain.add("ends", Type::int64, 1, Centering::cell, Role::offsets);
    domain.add("kinds", Type::uint8, 1, Centering::cell, Role::types);
    if (ids) domain.add("ids", Type::int64, 1, Centering::cell, Role::cell_ids);
    domain.add("t", Type::float64, 1, Centering::cell);
    domain.add("n", Type::float32, 2, Centering::node);
    static constexpr int paths[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    std::vector<std::vector<std::array<Index3, 4>>> cells(parts);
    std::vector<std::vector<std::int64_t>> numbers(parts);
    std::mt19937 random(seed);
    std::int64_t number = 0;
    for (Index c = 0; c < n * n * n; ++c) {
      for (const auto& path : paths) {
        std::array<Index3, 4> corners;
        corners[0] = {c % n, c / n % n, c / n / n};
        for (std::size_t s = 0; s < 3; ++s) {
          corners[s + 1] = corners[s];
          ++corners[s + 1][static_cast<std::size_t>(path[s])];
        }
        const std::size_t part = random() % parts;
        cells[part].push_back(corners);
        numbers[part].push_back(number++);
      }
    }
    for (std::size_t part = 0; part < parts; ++part) blocks.push_back(block_of(cells[part], numbers[part], n));
  }

  static std::array<double, 3> place(const Index3& p, Index n) {
    const auto x = [&](std::size_t a) { return static_cast<double>(p[a]) / static_cast<double>(n); };
    return {x(0) + 0.2 * x(1), x(1) - 0.1 * x(2), x(2) + 0.05 * x(0)};
  }

  static ListBlock block_of(const std::vector<std::array<Index3, 4>>& cells, const std::vector<std::int64_t>& numbers,
                            Index n) {
    std::map<Index3, std::int64_t> points;
    std::vector<double> pos, t;
    std::vector<float> values;
    std::vector<std::int64_t> links, ends;
    for (const auto& corners : cells) {
      for (const Index3& p : corners) {
        const auto [at, is_new] = points.try_emplace(p, static_cast<std::int64_t>(points.size()));
        links.push_back(at->second);
        if (!is_new) continue;
        const auto x = place(p, n);
        pos.insert(pos.end(), x.begin(), x.end());
        for (int c = 0; c < 2; ++c)
          values.push_back(static_cast<float>(linear({double(p[0]), double(p[1]), double(p[2])}, {}, c)));
      }
      ends.push_back(static_cast<std::int64_t>(links.size()));
    }
    for (const std::int64_t number : numbers) t.push_back(static_cast<double>(number));
    ListBlock block{
        static_cast<Index>(cells.size()), static_cast<Index>(points.size()), static_cast<Index>(links.size()), {}};
    block.values = {
        {"pos", pos},     {"links", links}, {"ends", ends}, {"kinds", std::vector<std::uint8_t>(cells.size(), 10)},
        {"ids", numbers}, {"t", t},         {"n", values}};
    return block;
  }
};

}  // namespace

TEST_CASE("tetrahedra: linear fields are given back, borders go to the lowest number, in any division") {
  MpiCommunicator world(test_ranks()), self(MPI_COMM_SELF);
  const std::string yaml =
      "{variables: [n, t], point: [{at: [0.6, 0.45, 0.525]}, {at: [1.5, 0, 0]}], line: {from: [0.05, 0.01, 0.01], to: [1.1, 0.8, 0.95], samples: 60}}";
  const Index n = 4;
  const Tetrahedra whole(n, 1, 0, true);
  const Table expected = run_lists(probe_kind(), yaml, whole.domain, whole.blocks, self).tables.at("probe.csv");
  int inside = 0;
  for (std::size_t row = 2; row < expected.rows(); ++row) {
    // The inverse of Tetrahedra::place, by hand.
    const double x = real(expected, row, "x"), y = real(expected, row, "y"), z = real(expected, row, "z");
    const double determinant = 1 - 0.2 * 0.1 * 0.05;
    const double u = (x - 0.2 * y - 0.02 * z) / determinant;
    const double w = z - 0.05 * u, v = y + 0.1 * w;
    if (std::min({u, v, w}) < 1e-9 || std::max({u, v, w}) > 1 - 1e-9) continue;
    ++inside;
    for (int c = 0; c < 2; ++c) {
      REQUIRE(real(expected, row, "n_" + std::to_string(c)) ==
              doctest::Approx(linear({u * n, v * n, w * n}, {}, c)).epsilon(1e-6));
    }
    const double cube = std::floor(u * n) + n * (std::floor(v * n) + n * std::floor(w * n));
    CHECK(std::floor(real(expected, row, "t") / 6) == cube);
  }
  CHECK(inside > 50);
  // The node (2, 2, 2) belongs to 24 cells.
  CHECK(real(expected, 0, "n_0") == 0);
  CHECK(real(expected, 0, "t") < 6 * (n * n * n / 2));
  CHECK(std::isnan(real(expected, 1, "t")));
  for (const std::size_t parts : {2, 3, 5, 8}) {
    const Tetrahedra divided(n, parts, static_cast<unsigned>(parts), true);
    const auto result = run_lists(probe_kind(), yaml, divided.domain, divided.blocks, world, 2);
    if (world.rank() == 0) CHECK(same_bits(result.tables.at("probe.csv"), expected));
  }
}

TEST_CASE("lists that contradict themselves, and cells of other types") {
  MpiCommunicator self(MPI_COMM_SELF);
  Tetrahedra mesh(2, 1, 0, false);
  const std::string yaml = "{variables: t, point: {at: [0.5, 0.5, 0.5]}}";
  auto& kinds = std::get<std::vector<std::uint8_t>>(mesh.blocks[0].values.at("kinds"));
  std::fill(kinds.begin(), kinds.end(), std::uint8_t{42});
  CHECK(std::isnan(real(run_lists(probe_kind(), yaml, mesh.domain, mesh.blocks, self).tables.at("probe.csv"), 0, "t")));
  std::get<std::vector<std::int64_t>>(mesh.blocks[0].values.at("links"))[7] = 1000;
  CHECK_THROWS_WITH_AS(static_cast<void>(run_lists(probe_kind(), yaml, mesh.domain, mesh.blocks, self)),
                       doctest::Contains("cell 1 of block 0 of the mesh 'm'"), Error);
}

TEST_CASE("what cannot be probed is refused with a sentence") {
  const FakeDomain domain = uneven({{"a", wave}});
  const auto refused = [&](const std::string& yaml, const char* text) {
    CHECK_THROWS_WITH_AS(static_cast<void>(alone(domain, yaml, {domain.mesh().cells})), doctest::Contains(text), Error);
  };
  refused("{variables: a}", "give a `point` or a `line`");
  refused("{variables: a, point: {at: [1, 2]}}", "found 2 numbers, expected 3");
  refused("{variables: [a, a], point: {at: [1, 2, 3]}}", "named twice");
  FakeDomain levels = uneven({{"a", wave}});
  levels.metadata.meshes[0].refinement.push_back({2, 2, 2});
  CHECK_THROWS_WITH_AS(
      static_cast<void>(alone(levels, "{variables: a, point: {at: [0, 1, 2]}}", {levels.mesh().cells})),
      doctest::Contains("rectilinear and has refinement levels"), Error);
  const Tetrahedra mesh(1, 1, 0, false);
  MpiCommunicator self(MPI_COMM_SELF);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(run_lists(probe_kind(), "{variables: t, cells: linear, point: {at: [0, 0, 0]}}", mesh.domain,
                                  mesh.blocks, self)),
      doctest::Contains("take the cell's own value"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(run_lists(probe_kind(), "{variables: pos, point: {at: [0, 0, 0]}}",
                                                   mesh.domain, mesh.blocks, self)),
                       doctest::Contains("describes mesh 'm'"), Error);
}
