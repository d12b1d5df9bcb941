// Statistics, compared with two-pass sums in extended precision; the same bits for every division.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "analysis/common/kinds.hpp"
#include "support/fake_domain.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const char* const file = "statistics.csv";

double real(const Table& table, std::size_t row, const std::string& column) {
  const auto at = std::ranges::find(table.columns(), column, &Column::name) - table.columns().begin();
  return std::get<double>(table.at(row, static_cast<std::size_t>(at)));
}

std::int64_t whole(const Table& table, std::size_t row, const std::string& column) {
  const auto at = std::ranges::find(table.columns(), column, &Column::name) - table.columns().begin();
  return std::get<std::int64_t>(table.at(row, static_cast<std::size_t>(at)));
}

double wild(const std::array<double, 3>& x, const Index3& p, int c) {
  return 1e8 * (1 + c) + std::sin(3 * x[0] + c) * std::exp(5 * x[1]) + 1e-3 * static_cast<double>(p[2]);
}

FakeDomain domain_of(FakeField field, Index n = 12) { return fake_cube(n, -1, 1, {std::move(field)}); }

Table alone(const FakeDomain& domain, const Division& division, const FakeRun& how = {},
            const std::string& yaml = "{variable: a}") {
  return run_alone(statistics_kind(), yaml, domain, division, how).tables.at(file);
}

struct Expected {
  std::int64_t count = 0;
  double minimum = std::numeric_limits<double>::infinity(), maximum = -minimum;
  long double mean = 0, variance = 0;
};

/// Statistics by the definition, over the points of the undivided mesh.
Expected brute_force(const FakeDomain& domain, int c) {
  Expected e;
  const Box points = domain.metadata.variables[0].points(domain.mesh().cells);
  std::vector<double> values;
  for (Index k = points.lo[2]; k < points.hi[2]; ++k) {
    for (Index j = points.lo[1]; j < points.hi[1]; ++j) {
      for (Index i = points.lo[0]; i < points.hi[0]; ++i) values.push_back(domain.value(0, {i, j, k}, c));
    }
  }
  for (const double v : values) {
    ++e.count;
    e.minimum = std::min(e.minimum, v);
    e.maximum = std::max(e.maximum, v);
    e.mean += v;
  }
  e.mean /= static_cast<long double>(e.count);
  for (const double v : values) e.variance += (v - e.mean) * (v - e.mean);
  e.variance /= static_cast<long double>(e.count);
  return e;
}

}  // namespace

TEST_CASE("cell- and node-centred fields with a mean far from zero") {
  for (const Centering centering : {Centering::cell, Centering::node}) {
    const FakeDomain domain = domain_of({"a", wild, centering, 3});
    const Table table = alone(domain, random_division(domain.mesh().cells, 9, 3), {.ghosts = 2, .partials = 3});
    REQUIRE(table.rows() == 3);
    for (int c = 0; c < 3; ++c) {
      const Expected e = brute_force(domain, c);
      const auto row = static_cast<std::size_t>(c);
      CHECK(whole(table, row, "component") == c);
      CHECK(whole(table, row, "count") == e.count);
      CHECK(real(table, row, "minimum") == e.minimum);
      CHECK(real(table, row, "maximum") == e.maximum);
      CHECK(std::fabs(real(table, row, "mean") - static_cast<double>(e.mean)) <= 1e-15 * static_cast<double>(e.mean));
      CHECK(real(table, row, "variance") == doctest::Approx(static_cast<double>(e.variance)).epsilon(1e-9));
      CHECK(real(table, row, "standard_deviation") ==
            doctest::Approx(std::sqrt(static_cast<double>(e.variance))).epsilon(1e-9));
    }
  }
}

TEST_CASE("the same bits for every division, order of memory and number of servers") {
  MpiCommunicator world(test_ranks());
  for (const Centering centering : {Centering::cell, Centering::node}) {
    for (const Order order : {Order::column, Order::row}) {
      const FakeDomain domain = domain_of({"a", wild, centering, 2, Type::float64, order}, 9);
      const Table expected = alone(domain, {domain.mesh().cells});
      for (unsigned seed = 0; seed < 4; ++seed) {
        const Division division = random_division(domain.mesh().cells, 1 + 5 * seed, seed);
        const auto result = run_analysis(statistics_kind(), "{variable: a}", domain, division, world,
                                         {.ghosts = static_cast<int>(seed % 3), .partials = 1 + seed});
        if (world.rank() == 0) CHECK(same_bits(result.tables.at(file), expected));
      }
    }
  }
}

TEST_CASE("the deviation is right where squares are no doubles") {
  for (const double unit : {1e160, 1e300, 2e153, 1e-160, 3e-155, 1e-320}) {
    CAPTURE(unit);
    // Half of the values are one unit, half two.
    const auto two = [unit](const std::array<double, 3>&, const Index3& p, int) { return unit * (1 + p[0] % 2); };
    const FakeDomain domain = domain_of({"a", two, Centering::cell, 1, Type::float64, Order::column});
    const Table table = alone(domain, {domain.mesh().cells});
    const double variance = real(table, 0, "variance");
    CHECK(real(table, 0, "standard_deviation") == doctest::Approx(unit / 2).epsilon(1e-12));
    CHECK((std::isinf(variance) || variance <= unit * unit / 4 * (1 + 1e-12)));
    CHECK(std::isinf(variance) == (unit > 1e154));
  }
}

TEST_CASE("great and small values together are summed exactly") {
  const auto mixed = [](const std::array<double, 3>&, const Index3& p, int) {
    return p[0] == 0 && p[1] == 0 && p[2] == 0 ? 1e200 : p[0] == 1 ? 1e-200 : 1.0;
  };
  const FakeDomain domain = domain_of({"a", mixed, Centering::cell, 1, Type::float64, Order::column}, 4);
  const Table table = alone(domain, {domain.mesh().cells});
  CHECK(real(table, 0, "standard_deviation") == doctest::Approx(1e200 * std::sqrt(63.0) / 64).epsilon(1e-12));
}

TEST_CASE("mean and deviation are right where the sum is no double") {
  const auto half = [](double first, double second) {
    return [=](const std::array<double, 3>&, const Index3& p, int) { return p[0] % 2 == 0 ? first : second; };
  };
  const double greatest = std::numeric_limits<double>::max();
  for (const auto& [first, second, mean, deviation] :
       std::vector<std::array<double, 4>>{{greatest, greatest, greatest, 0},
                                          {1e308, 1.5e308, 1.25e308, 0.25e308},
                                          {-1.7e308, -1.1e308, -1.4e308, 0.3e308},
                                          {greatest, -greatest, 0, greatest}}) {
    const FakeDomain domain = domain_of({"a", half(first, second)}, 8);
    const Table table = alone(domain, random_division(domain.mesh().cells, 5, 2));
    CAPTURE(first);
    CHECK(real(table, 0, "mean") == doctest::Approx(mean).epsilon(1e-15));
    CHECK(real(table, 0, "standard_deviation") == doctest::Approx(deviation).epsilon(1e-15));
    CHECK(std::isinf(real(table, 0, "sum")) == (mean != 0));
    CHECK(std::isinf(real(table, 0, "variance")) == (deviation != 0));
  }
  // The sum of the squares overflows, but the variance is still a double.
  const double other = 1e308 * (1 + 0x1p-40);
  const FakeDomain domain = domain_of({"a", half(1e308, other)}, 8);
  const Table table = alone(domain, {domain.mesh().cells});
  CHECK(real(table, 0, "standard_deviation") == doctest::Approx((other - 1e308) / 2).epsilon(1e-9));
}

TEST_CASE("a constant field has no variance") {
  const FakeDomain domain = domain_of({"a", [](auto&, auto&, int) { return 0.1; }});
  const Table table = alone(domain, even_division(domain.mesh().cells, {2, 3, 1}));
  CHECK(real(table, 0, "variance") == 0);
  CHECK(real(table, 0, "minimum") == 0.1);
  CHECK(real(table, 0, "maximum") == 0.1);
  CHECK(real(table, 0, "mean") == 0.1);
}

TEST_CASE("NaN and infinities are counted apart") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  const FakeDomain domain = domain_of({"a", [&](auto&, const Index3& p, int) {
                                         if (p[0] == 0) return nan;
                                         if (p[0] == 1) return p[1] % 2 ? infinity : -infinity;
                                         return p[0] % 2 ? 1.0 : 3.0;
                                       }});
  const Table table = alone(domain, random_division(domain.mesh().cells, 5, 1));
  CHECK(whole(table, 0, "nan") == 144);
  CHECK(whole(table, 0, "infinite") == 144);
  CHECK(whole(table, 0, "count") == 10 * 144);
  CHECK(real(table, 0, "mean") == 2);
  CHECK(real(table, 0, "variance") == 1);
}

TEST_CASE("nothing but NaN, and nothing at all") {
  const FakeDomain domain = domain_of({"a", [](auto&, auto&, int) { return std::nan(""); }}, 4);
  const Table nothing_finite = alone(domain, {domain.mesh().cells});
  CHECK(whole(nothing_finite, 0, "nan") == 64);
  CHECK(whole(nothing_finite, 0, "count") == 0);
  CHECK(std::isnan(real(nothing_finite, 0, "mean")));
  const Table empty = alone(domain, {domain.mesh().cells}, {.absent = {0}});
  CHECK(whole(empty, 0, "nan") == 0);
  CHECK(std::isnan(real(empty, 0, "minimum")));
}

TEST_CASE("64-bit extremes are exact and every type works") {
  const std::int64_t big = (std::int64_t{1} << 62) + 1;  // no double
  FakeField field{"a", [](auto&, const Index3& p, int) { return static_cast<double>(p[0] + 2 * p[1]); }};
  for (int t = 0; t < type_count; ++t) {
    field.type = static_cast<Type>(t);
    const FakeDomain domain = domain_of(field);
    const Table table = alone(domain, even_division(domain.mesh().cells, {1, 2, 2}));
    CHECK(real(table, 0, "mean") == 16.5);
    const bool exact = t < static_cast<int>(Type::float32) && field.type != Type::uint64;
    CHECK((exact ? static_cast<double>(whole(table, 0, "maximum")) : real(table, 0, "maximum")) == 33);
  }
  const std::vector<std::int64_t> values{-big, 3, big, 4};
  BlockView view;
  view.block.cells = view.points = {{0, 0, 0}, {4, 1, 1}};
  view.owned = {view.points};
  view.array.data = values.data();
  view.array.type = Type::int64;
  view.array.box = view.points;
  view.array.strides = packed_strides(view.points, 1, Order::column);
  field.type = Type::int64;
  const FakeDomain domain = domain_of(field);
  const auto analysis =
      statistics_kind().create(fake_settings(statistics_kind(), "{variable: a}", domain.metadata), domain.metadata);
  const std::vector<std::vector<BlockView>> views{{view}};
  const std::vector<Bytes> partials{analysis->local({{}, domain.metadata, views, 0, {}})};
  MpiCommunicator self(MPI_COMM_SELF);
  CapturedResults results;
  analysis->combine({{}, domain.metadata, partials, 0, self, results});
  CHECK(whole(results.tables.at(file), 0, "minimum") == -big);
  CHECK(whole(results.tables.at(file), 0, "maximum") == big);
}

TEST_CASE("one component on request, and a component that does not exist") {
  const FakeDomain domain = domain_of({"a", wild, Centering::cell, 3}, 4);
  const Table table = alone(domain, {domain.mesh().cells}, {}, "{variable: a, component: 2}");
  REQUIRE(table.rows() == 1);
  CHECK(whole(table, 0, "component") == 2);
  CHECK_THROWS_WITH_AS(alone(domain, {domain.mesh().cells}, {}, "{variable: a, component: 3}"),
                       doctest::Contains("component 3 of 'a' does not exist; it has 3"), Error);
}

TEST_CASE("by size: the integral and the mean of a field, whatever the division") {
  const FakeDomain domain = domain_of({"a", wild, Centering::cell, 2});
  const Table each = alone(domain, random_division(domain.mesh().cells, 5, 3));
  const std::string yaml = "{variable: a, by: size}";
  const Table table = alone(domain, random_division(domain.mesh().cells, 9, 4), {.ghosts = 1, .partials = 3}, yaml);
  const auto& spacing = dynamic_cast<const UniformGeometry&>(*domain.mesh().geometry).spacing();
  const double volume = spacing[0] * spacing[1] * spacing[2];
  for (std::size_t row = 0; row < 2; ++row) {
    for (const char* const same : {"minimum", "maximum", "mean", "variance", "standard_deviation"}) {
      CHECK(real(table, row, same) == real(each, row, same));
    }
    CHECK(whole(table, row, "count") == 12 * 12 * 12);
    CHECK(real(table, row, "sum") == volume * real(each, row, "sum"));
    CHECK(real(table, row, "size") == doctest::Approx(8).epsilon(1e-14));
  }
}

TEST_CASE("by size: what it needs") {
  const FakeDomain nodes = domain_of({"a", wild, Centering::node, 1});
  FakeDomain uneven = domain_of({"a", wild, Centering::cell, 1}, 2);
  const std::vector<double> places{0, 1, 3};
  uneven.metadata.meshes.front().geometry =
      std::make_shared<RectilinearGeometry>(Index3{}, std::array{places, places, places});
  const auto said = [](const FakeDomain& domain) {
    return message_of([&] { static_cast<void>(alone(domain, {}, {}, "{variable: a, by: size}")); });
  };
  CHECK(said(nodes).find("'a' lies at nodes; `by: size` needs values in cells") != std::string::npos);
  CHECK(said(uneven).find("on mesh 'grid' of type 'rectilinear', expected a uniform mesh or an octree") !=
        std::string::npos);
}
