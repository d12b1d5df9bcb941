// Histograms, compared with counts by the definition; the same bits for every division.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/common/kinds.hpp"
#include "sidestream/kit/reduce/bins/bins.hpp"
#include "support/fake_domain.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

double wave(const std::array<double, 3>& x, const Index3&, int c) {
  return std::sin(5 * x[0]) + std::cos(4 * x[1] * x[2]) + c;
}

Table alone(const FakeDomain& domain, const std::string& yaml, const Division& division, const FakeRun& how = {}) {
  return run_alone(histogram_kind(), yaml, domain, division, how).tables.at("histogram.csv");
}

double lower(const Table& t, std::size_t row) { return std::get<double>(t.at(row, 1)); }
double upper(const Table& t, std::size_t row) { return std::get<double>(t.at(row, 2)); }
std::int64_t number(const Table& t, std::size_t row, std::size_t column) {
  return std::get<std::int64_t>(t.at(row, column));
}
std::int64_t total(const Table& t) {
  std::int64_t sum = 0;
  for (std::size_t r = 0; r < t.rows(); ++r) sum += number(t, r, 3);
  return sum;
}

std::vector<double> all_values(const FakeDomain& domain) {
  std::vector<double> values;
  const Box points = domain.metadata.variables[0].points(domain.mesh().cells);
  for (Index k = points.lo[2]; k < points.hi[2]; ++k) {
    for (Index j = points.lo[1]; j < points.hi[1]; ++j) {
      for (Index i = points.lo[0]; i < points.hi[0]; ++i) values.push_back(domain.value(0, {i, j, k}, 0));
    }
  }
  return values;
}

}  // namespace

TEST_CASE("counts are those of the intervals the table states") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_cube(11, 0, 1, {{"a", wave, centering}});
    const std::vector<double> values = all_values(domain);
    for (const std::string& yaml :
         {std::string("{variable: a, bins: 7}"), std::string("{variable: a, bins: 13, range: [0.3, 1.1]}")}) {
      const Table table = alone(domain, yaml, random_division(domain.mesh().cells, 6, 4), {.ghosts = 1, .partials = 2});
      std::int64_t counted = 0;
      for (std::size_t r = 0; r < table.rows(); ++r) {
        const bool last = r + 1 == table.rows();
        const auto expected = std::count_if(values.begin(), values.end(), [&](double v) {
          return v >= lower(table, r) && (last ? v <= upper(table, r) : v < upper(table, r));
        });
        CHECK(number(table, r, 3) == expected);
        if (!last) CHECK(upper(table, r) == lower(table, r + 1));
        counted += expected;
      }
      const auto low = lower(table, 0), high = upper(table, table.rows() - 1);
      CHECK(number(table, 0, 4) == std::count_if(values.begin(), values.end(), [&](double v) { return v < low; }));
      CHECK(number(table, 0, 5) == std::count_if(values.begin(), values.end(), [&](double v) { return v > high; }));
      CHECK(counted + number(table, 0, 4) + number(table, 0, 5) == static_cast<std::int64_t>(values.size()));
    }
  }
}

TEST_CASE("without a range it reaches from the least to the greatest value") {
  const FakeDomain domain = fake_cube(8, 0, 1, {{"a", wave}});
  const std::vector<double> values = all_values(domain);
  const Table table = alone(domain, "{variable: a, bins: 10}", even_division(domain.mesh().cells, {2, 2, 2}));
  CHECK(lower(table, 0) == *std::min_element(values.begin(), values.end()));
  CHECK(upper(table, 9) == *std::max_element(values.begin(), values.end()));
  CHECK(total(table) == 512);
  CHECK(number(table, 0, 4) == 0);
  CHECK(number(table, 0, 5) == 0);
}

TEST_CASE("the same bits for every division and number of servers") {
  MpiCommunicator world(test_ranks());
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = fake_cube(9, -1, 1, {{"a", wave, centering, 2}});
    const std::string yaml = "{variable: a, component: 1, bins: 32}";
    const Table expected = alone(domain, yaml, {domain.mesh().cells});
    for (unsigned seed = 0; seed < 4; ++seed) {
      const Division division = random_division(domain.mesh().cells, 1 + 4 * seed, seed);
      const auto result =
          run_analysis(histogram_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = 1 + seed});
      if (world.rank() == 0) CHECK(same_bits(result.tables.at("histogram.csv"), expected));
    }
  }
}

TEST_CASE("a constant field fills one interval of a range around it") {
  for (const double constant : {0.0, 0.1, -3.0, 1e20, -1e300, 1e-300}) {
    const FakeDomain domain = fake_cube(4, 0, 1, {{"a", [&](auto&, auto&, int) { return constant; }}});
    const Table table = alone(domain, "{variable: a, bins: 64}", {domain.mesh().cells});
    CHECK(lower(table, 0) < constant);
    CHECK(upper(table, 63) > constant);
    CHECK(total(table) == 64);
    for (std::size_t r = 0; r < 64; ++r) {
      CHECK(lower(table, r) < upper(table, r));
      CHECK((number(table, r, 3) == 0 || number(table, r, 3) == 64));
    }
  }
}

TEST_CASE("NaN and infinities have no interval") {
  const double infinity = std::numeric_limits<double>::infinity();
  const FakeDomain domain = fake_cube(4, 0, 1, {{"a", [&](auto&, const Index3& p, int) {
                                                   if (p[0] == 0) return std::nan("");
                                                   if (p[0] == 1) return infinity;
                                                   if (p[0] == 2) return p[1] < 2 ? -infinity : 5.0;
                                                   return 7.0;
                                                 }}});
  const Table table = alone(domain, "{variable: a, bins: 4}", even_division(domain.mesh().cells, {4, 1, 1}));
  CHECK(lower(table, 0) == 5);
  CHECK(upper(table, 3) == 7);
  CHECK(number(table, 0, 3) == 8);
  CHECK(number(table, 3, 3) == 16);
  CHECK(number(table, 0, 4) == 8);
  CHECK(number(table, 0, 5) == 16);
  CHECK(number(table, 0, 6) == 16);
}

TEST_CASE("nothing finite, nothing at all") {
  const FakeDomain domain = fake_cube(4, 0, 1, {{"a", [](auto&, auto&, int) { return std::nan(""); }}});
  for (const std::vector<std::size_t>& absent : {std::vector<std::size_t>{}, std::vector<std::size_t>{0}}) {
    const Table table = alone(domain, "{variable: a, bins: 4}", {domain.mesh().cells}, {.absent = absent});
    CHECK(table.rows() == 4);
    CHECK(total(table) == 0);
    CHECK(number(table, 0, 6) == (absent.empty() ? 64 : 0));
    CHECK(std::isfinite(lower(table, 0)));
  }
}

TEST_CASE("edges and slots agree in extreme ranges") {
  const double greatest = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{{-greatest, greatest},
                                                                        {0, 100 * least},
                                                                        {0, 1e-310},
                                                                        {1, std::nextafter(1, 2)},
                                                                        {0.9 * greatest, greatest}}) {
    const Bins bins(low, high, 64);
    const std::vector<double>& edges = bins.edges();
    for (std::size_t n = 0; n < 64; ++n) {
      REQUIRE(edges[n] < edges[n + 1]);
      CHECK(bins.slot(edges[n]) == n);
      CHECK(bins.slot(std::nextafter(edges[n + 1], edges[n])) == n);
    }
    CHECK(bins.slot(edges[64]) == 63);
    CHECK(bins.slot(low) < 64);
    CHECK(bins.slot(high) < 64);
  }
  CHECK(Bins(-greatest, greatest, 1).slot(7) == 0);
  CHECK(Bins(0, 1, 2).slot(std::nan("")) == 4);
  CHECK(Bins(0, 1, 2).slot(-1) == 2);
  CHECK(Bins(0, 1, 2).slot(2) == 3);
}

TEST_CASE("a range the wrong way round is refused") {
  const FakeDomain domain = fake_cube(4, 0, 1, {{"a", wave}});
  CHECK_THROWS_WITH_AS(alone(domain, "{variable: a, range: [2, 1]}", {domain.mesh().cells}),
                       doctest::Contains("the range [2, 1] is not two finite numbers in ascending order"), Error);
  const FakeDomain vectors = fake_cube(4, 0, 1, {{"a", wave, Centering::cell, 3}});
  CHECK_THROWS_WITH_AS(alone(vectors, "{variable: a}", {vectors.mesh().cells}),
                       doctest::Contains("'a' has 3 components; say which one"), Error);
}
