// Blocks kept and coarsened by relevance, compared with brute force; the same bytes for every number of servers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "sidestream/error.hpp"
#include "support/fake_domain.hpp"
#include "support/list_blocks.hpp"
#include "support/ranks.hpp"
#include "support/stretched_domain.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const char* const file = "relevance-{index:05}.vtu";
const char* const table = "relevance.csv";
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
using Place = std::array<double, 3>;

double wave(const Place& x, const Index3&, int c) { return std::sin(5 * x[0] * x[0]) * std::cos(4 * x[1]) + x[2] + c; }

double real_at(const Table& rows, const std::string& column) {
  const std::vector<std::string> names = rows.names();
  const auto found = std::find(names.begin(), names.end(), column);
  REQUIRE(found != names.end());
  const Table::Cell cell = rows.at(0, static_cast<std::size_t>(found - names.begin()));
  const auto* const whole = std::get_if<std::int64_t>(&cell);
  return whole ? static_cast<double>(*whole) : std::get<double>(cell);
}

/// The cells of the result as boxes of the mesh's cells, by the places of their first and last corner.
std::vector<Box> boxes_of(const CellSet& set, const FakeDomain& domain) {
  const Axes& axes = *domain.mesh().axes();
  const int dimensions = domain.mesh().dimensions;
  const auto node = [&](int a, double x) {
    Index i = domain.mesh().cells.lo[static_cast<std::size_t>(a)];
    while (axes.node(a, i) != x) ++i;  // the same bits, or the index leaves the axis
    return i;
  };
  std::vector<Box> boxes;
  std::size_t begin = 0;
  for (const std::int64_t end : set.ends) {
    const Place& low = set.points.at(static_cast<std::size_t>(set.links[begin]));
    const Place& high = set.points.at(static_cast<std::size_t>(set.links[static_cast<std::size_t>(end) - 1]));
    Box box = domain.mesh().cells;
    for (int a = 0; a < dimensions; ++a) {
      const auto n = static_cast<std::size_t>(a);
      CHECK(low[n] < high[n]);
      std::tie(box.lo[n], box.hi[n]) = std::minmax({node(a, low[n]), node(a, high[n])});
    }
    boxes.push_back(box);
    begin = static_cast<std::size_t>(end);
  }
  return boxes;
}

template <class F>
void for_each_index_of(const Box& box, F&& f) {
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) f(Index3{i, j, k});
    }
  }
}

double volume(const FakeDomain& domain, const Index3& p) {
  double product = 1;
  for (int a = 0; a < domain.mesh().dimensions; ++a) {
    const Index i = p[static_cast<std::size_t>(a)];
    product *= std::abs(domain.mesh().axes()->node(a, i + 1) - domain.mesh().axes()->node(a, i));
  }
  return product;
}

/// The variance, or the range, of a block.
double expected_metric(const FakeDomain& domain, const Box& block, bool variance) {
  double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
  for_each_index_of(block, [&](const Index3& p) {
    const double value = domain.value(0, p, 0);
    sum += value;
    squares += value * value;
    low = std::min(low, value);
    high = std::max(high, value);
  });
  const auto n = static_cast<double>(block.count());
  return variance ? squares / n - sum / n * (sum / n) : high - low;
}

/// The errors of the coarsened cells.
struct Errors {
  double largest = 0, squares = 0, cells = 0;
};

/// Blocks in the order of their metrics, greatest first, with them.
std::vector<std::pair<double, std::size_t>> expected_order(const FakeDomain& domain, const Division& division,
                                                           bool variance) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t b = 0; b < division.size(); ++b) {
    order.push_back({-expected_metric(domain, division[b], variance), b});
  }
  std::sort(order.begin(), order.end());
  for (auto& [metric, block] : order) metric = -metric;
  return order;
}

/// Checks a cell's value, and its place among the groups of its block, and adds its errors.
void check_cell(const FakeDomain& domain, const Box& block, Index step, const Box& box, double found, Errors& errors) {
  double sum = 0, weights = 0;
  for_each_index_of(box, [&](const Index3& p) {
    sum += volume(domain, p) * domain.value(0, p, 0);
    weights += volume(domain, p);
  });
  CHECK(found == doctest::Approx(sum / weights).epsilon(1e-12));
  for (int a = 0; a < domain.mesh().dimensions; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    CHECK((box.lo[axis] - block.lo[axis]) % step == 0);
    CHECK(box.hi[axis] == std::min(box.lo[axis] + step, block.hi[axis]));
  }
  if (step == 1) return;
  for_each_index_of(box, [&](const Index3& p) {
    const double error = std::abs(domain.value(0, p, 0) - found);
    errors.largest = std::max(errors.largest, error);
    errors.squares += error * error;
    ++errors.cells;
  });
}

void check_row(const Table& row, const FakeDomain& domain, std::size_t blocks, std::size_t boxes,
               const Errors& errors) {
  CHECK(real_at(row, "blocks") == static_cast<double>(blocks));
  CHECK(real_at(row, "cells_moved") == static_cast<double>(boxes));
  CHECK(real_at(row, "bytes_full") == static_cast<double>(8 * domain.mesh().cells.count()));
  CHECK(real_at(row, "bytes_moved") == static_cast<double>(8 * boxes + 120 * blocks));
  CHECK(real_at(row, "largest_error") == doctest::Approx(errors.largest).epsilon(1e-9));
  const double rms = errors.cells > 0 ? std::sqrt(errors.squares / errors.cells) : 0;
  CHECK(real_at(row, "rms_error") == doctest::Approx(rms).epsilon(1e-9));
}

/// Checks the whole result against brute force; `factor` as in the options.
void check_result(const CapturedResults& results, const FakeDomain& domain, const Division& division, Index factor,
                  std::size_t kept, bool variance) {
  const CellSet& set = results.cell_sets.at(file);
  const auto order = expected_order(domain, division, variance);
  std::set<std::size_t> full;
  for (std::size_t n = 0; n < kept; ++n) full.insert(order[n].second);
  const std::vector<Box> boxes = boxes_of(set, domain);
  REQUIRE(boxes.size() == set.cell_data.at(0).values.size());
  std::map<Index3, int> seen;
  Errors errors;
  for (std::size_t n = 0; n < boxes.size(); ++n) {
    const auto b = static_cast<std::size_t>(set.cell_data[1].values[n]);
    REQUIRE(division.at(b).contains(boxes[n]));
    CHECK(set.cell_data[2].values[n] == static_cast<double>(boxes[n].count()));
    for_each_index_of(boxes[n], [&](const Index3& p) { ++seen[p]; });
    check_cell(domain, division[b], full.contains(b) ? 1 : factor, boxes[n], set.cell_data[0].values[n], errors);
  }
  CHECK(static_cast<Index>(seen.size()) == domain.mesh().cells.count());
  for (const auto& [p, times] : seen) CHECK(times == 1);
  const Table& row = results.tables.at(table);
  check_row(row, domain, division.size(), boxes.size(), errors);
  CHECK(real_at(row, "kept") == static_cast<double>(kept));
  if (kept > 0) CHECK(real_at(row, "threshold") == doctest::Approx(order[kept - 1].first).epsilon(1e-9));
  if (kept == 0) CHECK(std::isnan(real_at(row, "threshold")));
}

std::string options(const std::string& more) { return "{variable: a, " + more + "}"; }

bool same_cells(const CellSet& a, const CellSet& b) {
  if (a.types != b.types || a.links.size() != b.links.size() || !same_bits(a.cell_data, b.cell_data)) return false;
  for (std::size_t n = 0; n < a.links.size(); ++n) {
    const auto m = static_cast<std::size_t>(a.links[n]), o = static_cast<std::size_t>(b.links[n]);
    if (a.points.at(m) != b.points.at(o)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("kept blocks have their values and the others means, on uniform and rectilinear meshes") {
  const FakeDomain cube = fake_cube(7, -1, 2, {{"a", wave}}), stretched = stretched_domain({{"a", wave}});
  for (const FakeDomain* domain : {&cube, &stretched}) {
    for (const unsigned blocks : {1u, 4u, 9u}) {
      const Division division = random_division(domain->mesh().cells, blocks, blocks);
      for (const auto& [keep, kept] : {std::pair{"0", 0u}, {"0.3", (3 * blocks + 9) / 10}, {"1", blocks}}) {
        for (const char* metric : {"variance", "range"}) {
          const std::string yaml = options(std::string("factor: 3, keep: ") + keep + ", metric: " + metric);
          const CapturedResults results = run_alone(relevance_kind(), yaml, *domain, division, {.ghosts = 1});
          check_result(results, *domain, division, 3, kept, std::string(metric) == "variance");
        }
      }
    }
  }
}

TEST_CASE("meshes of one and two dimensions, and blocks of one cell") {
  const FakeDomain square = fake_square(5, -1, 2, {{"a", wave}});
  const FakeDomain line({{3, 0, 0}, {16, 1, 1}}, std::make_shared<UniformGeometry>(Place{0, 0, 0}, Place{0.25, 1, 1}),
                        {{"a", wave}}, 1);
  const CapturedResults flat =
      run_alone(relevance_kind(), options("keep_blocks: 2"), square, even_division(square.mesh().cells, {2, 3, 1}));
  check_result(flat, square, even_division(square.mesh().cells, {2, 3, 1}), 2, 2, true);
  CHECK(flat.cell_sets.at(file).types.front() == 8);
  const Division parts = even_division(line.mesh().cells, {3, 1, 1});
  const CapturedResults thin = run_alone(relevance_kind(), options("keep_blocks: 1, factor: 4"), line, parts);
  check_result(thin, line, parts, 4, 1, true);
  CHECK(thin.cell_sets.at(file).types.front() == 3);
  const Division single = even_division(square.mesh().cells, {5, 5, 1});
  const CapturedResults ones = run_alone(relevance_kind(), options("keep: 0.2"), square, single);
  CHECK(ones.cell_sets.at(file).types.size() == 25);
  CHECK(real_at(ones.tables.at(table), "largest_error") == 0);
  CHECK(real_at(ones.tables.at(table), "kept") == 5);
}

TEST_CASE("the same bytes for every number of servers and any partials") {
  MpiCommunicator world(test_ranks());
  for (const Type type : {Type::float32, Type::float64, Type::int16, Type::int64}) {
    const auto value = [](const Place& x, const Index3& p, int c) { return std::round(100 * wave(x, p, c)); };
    const FakeDomain domain = fake_cube(8, -1, 1, {{"a", value, Centering::cell, 2, type, Order::row}});
    for (const char* metric : {"variance", "range", "gradient", "entropy", "entropy, range: [-50, 50]"}) {
      const std::string yaml = options(std::string("component: 1, keep: 0.4, metric: ") + metric);
      const Division division = random_division(domain.mesh().cells, 11, 3);
      const CapturedResults expected = run_alone(relevance_kind(), yaml, domain, division);
      CHECK(real_at(expected.tables.at(table), "kept") == 5);
      for (const std::size_t partials : {1u, 3u}) {
        const auto run = [&](const std::string& text) {
          return run_analysis(relevance_kind(), text, domain, division, world, {.ghosts = 1, .partials = partials});
        };
        const CapturedResults whole = run(yaml), pieces = run("{pieces: true, " + yaml.substr(1));
        if (world.rank() != 0) continue;
        CHECK(same_bits(whole.cell_sets.at(file), expected.cell_sets.at(file)));
        CHECK(same_bits(whole.tables.at(table), expected.tables.at(table)));
        CHECK(same_cells(pieces.cell_sets.at(file), expected.cell_sets.at(file)));
        CHECK(same_bits(pieces.tables.at(table), expected.tables.at(table)));
      }
    }
  }
}

TEST_CASE("equal blocks are kept in the order of their ids, and constant ones have no error") {
  const FakeDomain domain = fake_cube(6, 0, 1, {{"a", [](const Place&, const Index3&, int) { return 1.0 / 3; }}});
  const Division division = random_division(domain.mesh().cells, 8, 5);
  for (const char* metric : {"variance", "range", "gradient", "entropy"}) {
    const CapturedResults results = run_alone(
        relevance_kind(), options(std::string("factor: 3, keep_blocks: 3, metric: ") + metric), domain, division);
    const CellSet& set = results.cell_sets.at(file);
    for (std::size_t n = 0; n < set.types.size(); ++n) {
      CHECK(set.cell_data[0].values[n] == 1.0 / 3);
      if (set.cell_data[1].values[n] < 3) CHECK(set.cell_data[2].values[n] == 1);
    }
    CHECK(real_at(results.tables.at(table), "threshold") == 0);
    CHECK(real_at(results.tables.at(table), "largest_error") == 0);
    CHECK(real_at(results.tables.at(table), "rms_error") == 0);
  }
}

TEST_CASE("blocks with NaN, infinities or differences that overflow are always kept") {
  const std::map<Index, double> odd{{1, not_a_number}, {7, INFINITY}, {13, 1e308}, {14, -1e308}};
  const auto value = [&](const Place& x, const Index3& p, int c) {
    return odd.contains(p[0]) && p[1] == 2 ? odd.at(p[0]) : wave(x, p, c);
  };
  const FakeDomain domain({{0, 0, 0}, {24, 4, 1}}, std::make_shared<UniformGeometry>(Place{0, 0, 0}, Place{1, 1, 1}),
                          {{"a", value}}, 2);
  for (const char* metric : {"variance", "range", "gradient", "entropy"}) {
    const CapturedResults results = run_alone(relevance_kind(), options(std::string("keep: 0, metric: ") + metric),
                                              domain, even_division(domain.mesh().cells, {4, 1, 1}));
    const CellSet& set = results.cell_sets.at(file);
    for (std::size_t n = 0; n < set.types.size(); ++n) {
      CHECK((set.cell_data[2].values[n] == 1) == (set.cell_data[1].values[n] < 3));
    }
    const Table& row = results.tables.at(table);
    CHECK(real_at(row, "not_finite") == 3);
    CHECK(real_at(row, "kept") == 3);
    CHECK(std::isinf(real_at(row, "threshold")));
    CHECK(std::isfinite(real_at(row, "rms_error")));
  }
}

TEST_CASE("cells that another block owns count once, and groups with such cells stay as they are") {
  const FakeDomain domain = fake_square(8, 0, 1, {{"a", wave}});
  const Division overlapping{{{0, 0, 0}, {5, 8, 1}}, {{3, 0, 0}, {8, 5, 1}}, {{4, 3, 0}, {8, 8, 1}}};
  const CapturedResults results = run_alone(relevance_kind(), options("keep: 0"), domain, overlapping, {.ghosts = 1});
  const CellSet& set = results.cell_sets.at(file);
  std::map<Index3, std::size_t> cells;  // the box in which each cell is
  const std::vector<Box> boxes = boxes_of(set, domain);
  for (std::size_t n = 0; n < boxes.size(); ++n) {
    double sum = 0;
    for_each_index_of(boxes[n], [&](const Index3& p) {
      CHECK(cells.insert({p, n}).second);
      sum += domain.value(0, p, 0);
      const double owner = p[0] < 5 ? 0 : p[1] < 5 ? 1 : 2;
      CHECK(set.cell_data[1].values[n] == owner);
    });
    CHECK(set.cell_data[0].values[n] == doctest::Approx(sum / static_cast<double>(boxes[n].count())).epsilon(1e-13));
  }
  CHECK(cells.size() == 64);
  // Block 1 begins at 3: its groups from 5 on are whole, and 3 and 4 count in block 0.
  CHECK(boxes[cells.at({5, 0, 0})].count() == 4);
  // Block 2 begins at (4, 3): cell 5 shares its groups with cells of block 0.
  CHECK(boxes[cells.at({5, 6, 0})].count() == 1);
  CHECK(boxes[cells.at({6, 6, 0})].count() == 4);
}

TEST_CASE("blocks that nobody delivered are left out, also all of them") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = fake_cube(6, 0, 1, {{"a", wave}});
  const Division division = even_division(domain.mesh().cells, {3, 1, 1});
  for (const char* pieces : {"false", "true"}) {
    const std::string yaml = options(std::string("metric: entropy, pieces: ") + pieces);
    const auto some = run_analysis(relevance_kind(), yaml, domain, division, world, {.absent = {1}});
    const auto none = run_analysis(relevance_kind(), yaml, domain, division, world, {.absent = {0, 1, 2}});
    if (world.rank() != 0) continue;
    CHECK(real_at(some.tables.at(table), "blocks") == 2);
    CHECK(real_at(some.tables.at(table), "cells") == 144);
    CHECK(real_at(none.tables.at(table), "blocks") == 0);
    CHECK(real_at(none.tables.at(table), "bytes_moved") == 0);
    CHECK(none.cell_sets.at(file).types.empty());
  }
}

TEST_CASE("what cannot be coarsened is refused with a sentence") {
  const auto refused = [](const FakeDomain& domain, const std::string& yaml, const char* text) {
    CHECK_THROWS_WITH_AS(static_cast<void>(run_alone(relevance_kind(), yaml, domain, {domain.mesh().cells})),
                         doctest::Contains(text), Error);
  };
  FakeDomain domain = fake_cube(4, 0, 1, {{"a", wave}, {"n", wave, Centering::node}, {"block", wave}});
  refused(domain, "{variable: n}", "relevance needs values in cells");
  refused(domain, "{variable: block}", "is also the name of an array of the result");
  refused(domain, "{variable: a, keep: 0.5, keep_blocks: 3}", "leave out one of both");
  refused(domain, "{variable: a, keep: 1.5}", "keep");
  refused(domain, "{variable: a, factor: 1}", "factor");
  refused(domain, "{variable: a, metric: entropy, range: [2, 1]}", "expected two finite numbers, the lower one first");
  domain.metadata.meshes[0].refinement = {{2, 2, 2}};
  refused(domain, "{variable: a}", "which has refinement levels; relevance needs a uniform or rectilinear mesh");
  ListDomain list(MeshKind::unstructured, 3);
  list.add("t", Type::float64, 1, Centering::cell);
  CHECK_THROWS_WITH_AS(static_cast<void>(relevance_kind().create(
                           fake_settings(relevance_kind(), "{variable: t}", list.metadata), list.metadata)),
                       doctest::Contains("which is unstructured; relevance needs"), Error);
}
