// Distributions, compared with reference tables and with counts by the definition; the same bits for every division.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "analysis/common/kinds.hpp"
#include "sidestream/kit/reduce/bins/bin_counts.hpp"
#include "sidestream/kit/reduce/bins/bins.hpp"
#include "support/fake_pieces.hpp"
#include "support/hash_field.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// The reference's field: density over its mean.
struct Reference {
  std::vector<double> density = HashField(64).values();
  double mean = 0;

  Reference() {
    for (const double d : density) mean += d / static_cast<double>(density.size());
  }
  [[nodiscard]] FakeDomain domain() const {
    const auto over_mean = [this](const Index3& p) {
      return density[static_cast<std::size_t>((p[0] * 64 + p[1]) * 64 + p[2])] / mean;
    };
    return fake_cube(64, 0, 20, {{"rho", [=](auto&, const Index3& p, int) { return over_mean(p); }}});
  }
};

double wave(const std::array<double, 3>& x, const Index3&, int c) {
  return 1 + 3 * std::sin(5 * x[0]) * std::cos(4 * x[1] * x[2]) + c;
}
double mass(const std::array<double, 3>& x, const Index3&, int) { return std::exp(3 * x[0] - x[1]); }

Table histogram(const FakeDomain& domain, const std::string& yaml, const Division& division, const FakeRun& how = {}) {
  return run_alone(histogram_kind(), yaml, domain, division, how).tables.at("histogram.csv");
}

template <class T>
std::vector<T> array_of(const DataSet& set, const std::string& name) {
  for (const DataSet::Array& array : set.arrays) {
    if (array.name != name) continue;
    std::vector<T> values(array.values.size() / sizeof(T));
    std::memcpy(values.data(), array.values.data(), array.values.size());
    return values;
  }
  throw Error(Code::internal, "no array " + name);
}

template <class F>
void each(const FakeDomain& domain, F&& f) {
  const Box& cells = domain.mesh().cells;
  for (Index k = cells.lo[2]; k < cells.hi[2]; ++k) {
    for (Index j = cells.lo[1]; j < cells.hi[1]; ++j) {
      for (Index i = cells.lo[0]; i < cells.hi[0]; ++i) f(Index3{i, j, k});
    }
  }
}

}  // namespace

TEST_CASE("the reference's distribution of density") {
  const Reference reference;
  const FakeDomain domain = reference.domain();
  const auto expected = cosmology_table("pdf_rhob_hash_64.csv");
  const std::string common = "{variable: rho, bins: 400, range: [1e-2, 1e5], scale: logarithmic, normalise: ";
  const Division whole{domain.mesh().cells};
  const Table density = histogram(domain, common + "density}", whole);
  const Table gimlet = histogram(domain, common + "gimlet}", whole);
  REQUIRE(density.rows() == expected.size());
  for (std::size_t b = 0; b < expected.size(); ++b) {
    CHECK(std::fabs(column(density, "lower")[b] / expected[b][0] - 1) < 1e-14);
    CHECK(column(density, "count")[b] == expected[b][1]);
    CHECK(std::fabs(column(gimlet, "density")[b] - expected[b][3]) <= 1e-10 * expected[b][3]);
    CHECK(std::fabs(column(density, "density")[b] - expected[b][4]) <= 1e-10 * expected[b][4]);
  }
}

TEST_CASE("logarithmic intervals are those that their edges say") {
  for (const auto& [low, high, count] : std::vector<std::tuple<double, double, int>>{{1e-2, 1e5, 400},
                                                                                     {1, 2, 1},
                                                                                     {1, 2, 100000},
                                                                                     {1e-300, 1e300, 7},
                                                                                     {1e-300, 1e300, 50000},
                                                                                     {3, std::nextafter(3, 4), 5},
                                                                                     {5e-324, 1, 10},
                                                                                     {1, 1.7e308, 1000}}) {
    const Bins bins = Bins::logarithmic(low, high, count);
    const auto& edges = bins.edges();
    REQUIRE(edges.size() == static_cast<std::size_t>(count) + 1);
    for (std::size_t n = 0; n < static_cast<std::size_t>(count); ++n) {
      REQUIRE(edges[n] < edges[n + 1]);
      REQUIRE(bins.slot(edges[n]) == n);
      REQUIRE(bins.slot(std::nextafter(edges[n + 1], edges[n])) == n);
      REQUIRE(bins.slot(edges[n] + 0.37 * (edges[n + 1] - edges[n])) == n);
    }
    const auto slots = static_cast<std::size_t>(count);
    CHECK(bins.slot(edges.back()) == slots - 1);
    CHECK(bins.slot(0) == slots);
    CHECK(bins.slot(-1) == slots);
    CHECK(bins.slot(std::numeric_limits<double>::infinity()) == slots + 1);
    CHECK(bins.slot(std::nan("")) == slots + 2);
  }
}

TEST_CASE("counts are those of slots, value by value") {
  std::mt19937_64 random(3);
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<Bins> all;
  for (const auto& [low, high, count] : std::vector<std::tuple<double, double, int>>{{0, 1, 1},
                                                                                     {-3, 7.4, 400},
                                                                                     {1e9, 1e9 + 1, 1000},
                                                                                     {1e16, 1.1e16, 3000},
                                                                                     {-1e308, 1.7e308, 64},
                                                                                     {0, 5e-324, 4},
                                                                                     {2, 3, 59999},
                                                                                     {2, 3, 200000}})
    all.emplace_back(low, high, count);
  for (const auto& [low, high, count] : std::vector<std::tuple<double, double, int>>{{1e-2, 1e5, 400},
                                                                                     {1, 2, 1},
                                                                                     {1, 2, 20000},
                                                                                     {1e-30, 1e30, 1000},
                                                                                     {1e-300, 1e300, 7},
                                                                                     {3, std::nextafter(3, 4), 5}})
    all.push_back(Bins::logarithmic(low, high, count));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!wide_counts()) MESSAGE("NOT TESTED: counting with wide registers, which this processor does not have");
  for (const Bins& bins : all) {
    const auto& edges = bins.edges();
    // An odd number of values, one value many times, and values that are not finite.
    std::vector<double> values(777, edges.front());
    for (const double v : {std::nan(""), -std::nan(""), infinity, -infinity, 0.0, -0.0, -1.0, 5e-324, 1e300, -1e300})
      values.push_back(v);
    for (int n = 0; n < 20000; ++n) {
      const double edge = edges[random() % edges.size()], other = edges[random() % edges.size()];
      values.push_back(edge);
      values.push_back(std::nextafter(edge, -infinity));
      values.push_back(std::nextafter(edge, infinity));
      values.push_back(edge + unit() * (other - edge));
      values.push_back(edges.back() + unit() * (edges.back() - edges.front()));
    }
    const auto size = static_cast<Index>(values.size());
    for (const Box& cells : {Box{{0, 0, 0}, {size, 1, 1}}, Box{{0, 0, 0}, {13, size / 13, 1}}}) {
      BlockView view;
      view.block.cells = view.points = cells;
      view.owned = {cells};
      view.array.data = values.data();
      view.array.box = cells;
      view.array.strides = packed_strides(cells, 1, Order::column);
      Words expected(edges.size() + 2, 0);
      for (Index n = 0; n < cells.count(); ++n) ++expected[bins.slot(values[static_cast<std::size_t>(n)])];
      for (const WideCounts wide : {wide_counts(), WideCounts(nullptr)}) {
        BinCounts counts(bins, false, wide);
        counts.add(view, 0);
        CHECK_MESSAGE(counts.words() == expected, edges.front(), " ", edges.back(), " ", edges.size(), " ",
                      wide != nullptr);
        Words twice = expected;
        for (std::int64_t& n : twice) n *= 2;
        counts.add(view, 0);
        CHECK(counts.words() == twice);
      }
    }
  }
}

TEST_CASE("weights of two variables are summed exactly, the same for every division") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain =
      fake_cube(9, 0, 1, {{"a", wave}, {"b", mass}, {"m", mass, Centering::cell, 1, Type::float32}});
  const std::string yaml =
      "{x: {variable: a, bins: 6}, y: {variable: b, bins: 4, scale: logarithmic}, weight: m, normalise: density, file: h.h5}";
  const auto whole = run_alone(histogram2d_kind(), yaml, domain, Division{domain.mesh().cells}).data_sets.at("h.h5");
  const auto weights = array_of<double>(whole, "weight"), x = array_of<double>(whole, "x_edges"),
             y = array_of<double>(whole, "y_edges"), density = array_of<double>(whole, "density");
  std::vector<ExactSum> sums(24);
  ExactSum all;
  each(domain, [&](const Index3& p) {
    const auto place = [&](const std::vector<double>& edges, double v) {
      std::size_t n = edges.size() - 2;
      while (n > 0 && v < edges[n]) --n;
      return n;
    };
    const auto m = static_cast<double>(static_cast<float>(domain.value(2, p, 0)));
    sums[place(y, domain.value(1, p, 0)) * 6 + place(x, domain.value(0, p, 0))].add(m);
    all.add(m);
  });
  for (std::size_t n = 0; n < 24; ++n) {
    CHECK(weights[n] == sums[n].value());
    const double area = (x[n % 6 + 1] - x[n % 6]) * (y[n / 6 + 1] - y[n / 6]);
    CHECK(density[n] == doctest::Approx(weights[n] / all.value() / area).epsilon(1e-13));
  }
  const auto shared = run_analysis(histogram2d_kind(), yaml, domain, random_division(domain.mesh().cells, 9, 2), world,
                                   {.ghosts = 1, .partials = 2});
  if (world.rank() == 0) {
    CHECK(array_of<double>(shared.data_sets.at("h.h5"), "weight") == weights);
    CHECK(array_of<double>(shared.data_sets.at("h.h5"), "density") == density);
  }
}

TEST_CASE("weights are summed, densities integrate to one") {
  for (const Order order : {Order::column, Order::row}) {
    const FakeDomain domain = fake_cube(
        9, 0, 1,
        {{"a", wave, Centering::node, 2, Type::float32}, {"m", mass, Centering::node, 1, Type::float64, order}});
    const Table table = histogram(domain, "{variable: a, component: 1, bins: 12, weight: m, normalise: density}",
                                  random_division(domain.mesh().cells, 5, 3), {.ghosts = 1, .partials = 2});
    std::vector<double> sums(12, 0);
    double all = 0;
    for (Index k = 0; k < 10; ++k) {
      for (Index j = 0; j < 10; ++j) {
        for (Index i = 0; i < 10; ++i) {
          const double v = static_cast<float>(domain.value(0, {i, j, k}, 1)), m = domain.value(1, {i, j, k}, 0);
          std::size_t b = 11;
          while (b > 0 && v < column(table, "lower")[b]) --b;
          sums[b] += m;
          all += m;
        }
      }
    }
    double integral = 0;
    for (std::size_t b = 0; b < 12; ++b) {
      const double width = column(table, "upper")[b] - column(table, "lower")[b];
      CHECK(std::fabs(column(table, "weight")[b] - sums[b]) <= 1e-13 * all);
      CHECK(std::fabs(column(table, "density")[b] - sums[b] / all / width) <= 1e-12 / width);
      integral += column(table, "density")[b] * width;
    }
    CHECK(std::fabs(integral - 1) < 1e-13);
  }
}

TEST_CASE("what ranges are found: of logarithms those above 0") {
  const FakeDomain domain = fake_cube(6, 0, 1, {{"a", wave}, {"none", [](auto&, auto&, int) { return -1.0; }}});
  double least = 1e9, most = 0;
  std::int64_t below = 0;
  each(domain, [&](const Index3& p) {
    const double v = domain.value(0, p, 0);
    below += v <= 0 ? 1 : 0;
    if (v > 0) least = std::min(least, v);
    most = std::max(most, v);
  });
  REQUIRE(below > 0);
  const Table table = histogram(domain, "{variable: a, bins: 5, scale: logarithmic}", {domain.mesh().cells});
  CHECK(column(table, "lower")[0] == least);
  CHECK(column(table, "upper")[4] == most);
  CHECK(column(table, "below")[0] == static_cast<double>(below));
  const Table none =
      histogram(domain, "{variable: none, bins: 2, scale: logarithmic, normalise: density}", {domain.mesh().cells});
  CHECK(column(none, "below")[0] == 216);
  CHECK(std::isnan(column(none, "density")[1]));
}

TEST_CASE("two variables: each point in the field of its two values") {
  const FakeDomain domain =
      fake_cube(7, 0, 1, {{"a", wave}, {"m", mass, Centering::cell, 1, Type::float32, Order::row}});
  const std::string yaml =
      "{x: {variable: a, bins: 6, range: [-1, 3]}, y: {variable: m, bins: 5, scale: logarithmic}, normalise: density, file: h.h5, "
      "image: {file: h.png, size: [80, 60]}}";
  const auto results =
      run_alone(histogram2d_kind(), yaml, domain, random_division(domain.mesh().cells, 4, 1), {.ghosts = 1});
  const DataSet& set = results.data_sets.at("h.h5");
  const auto counts = array_of<std::int64_t>(set, "count");
  const auto x = array_of<double>(set, "x_edges"), y = array_of<double>(set, "y_edges"),
             density = array_of<double>(set, "density");
  REQUIRE(counts.size() == 30);
  std::vector<std::int64_t> expected(30, 0);
  std::int64_t outside = 0;
  each(domain, [&](const Index3& p) {
    const double a = domain.value(0, p, 0), m = static_cast<float>(domain.value(1, p, 0));
    std::size_t i = 6, j = 5;
    for (std::size_t n = 0; n < 6; ++n) i = a >= x[n] && (a < x[n + 1] || (n == 5 && a == x[6])) ? n : i;
    for (std::size_t n = 0; n < 5; ++n) j = m >= y[n] && (m < y[n + 1] || (n == 4 && m == y[5])) ? n : j;
    ++(i < 6 && j < 5 ? expected[j * 6 + i] : outside);
  });
  CHECK(counts == expected);
  CHECK(std::get<std::int64_t>(set.attributes[2].value) == outside);
  double integral = 0;
  for (std::size_t n = 0; n < 30; ++n) integral += density[n] * (x[n % 6 + 1] - x[n % 6]) * (y[n / 6 + 1] - y[n / 6]);
  CHECK(std::fabs(integral - 1) < 1e-13);
  const ChartOrder& chart = results.charts.at("h.png");
  CHECK(chart.table == "h.h5");
  const std::vector<std::string> begin{"--size=80x60", "--caption=count: m over a    time 0.0000    cycle 0",
                                       "--colours=viridis", "--colour-scale=linear", "--title=x:a"};
  CHECK(std::vector<std::string>(chart.arguments.begin(), chart.arguments.begin() + 5) == begin);
  MpiCommunicator world(test_ranks());
  const auto shared = run_analysis(histogram2d_kind(), yaml, domain, random_division(domain.mesh().cells, 9, 2), world,
                                   {.ghosts = 2, .partials = 2});
  if (world.rank() == 0) {
    for (std::size_t n = 0; n < set.arrays.size(); ++n) {
      CHECK(shared.data_sets.at("h.h5").arrays[n].values == set.arrays[n].values);
    }
    CHECK(shared.charts.at("h.png").arguments == chart.arguments);
  } else {
    CHECK(shared.charts.empty());
  }
}

TEST_CASE("the reference's diagram of temperature and density") {
  const auto rows = cosmology_table("pdf2d_T_rhobar_igm64.csv");
  const Reference reference;
  const FakeDomain density = reference.domain();
  // T = 1e4 K (rho / mean)^0.6, and at least 1000 K.
  const FakeDomain domain = fake_cube(
      64, 0, 20, {density.fields[0], {"t", [&](auto& x, const Index3& p, int) {
                                        return std::max(1e3, 1e4 * std::pow(density.fields[0].value(x, p, 0), 0.6));
                                      }}});
  const auto results =
      run_alone(histogram2d_kind(),
                "{x: {variable: rho, bins: 400, range: [1e-2, 1e5], scale: logarithmic}, y: {variable: t, bins: "
                "400, range: [1e3, 1e8], scale: logarithmic}, normalise: gimlet, file: h.h5}",
                domain, {domain.mesh().cells});
  const DataSet& set = results.data_sets.at("h.h5");
  const auto counts = array_of<std::int64_t>(set, "count");
  const auto gimlet = array_of<double>(set, "density");
  std::int64_t total = 0;
  for (const auto& row : rows) {
    const auto at = static_cast<std::size_t>(row[0] * 400 + row[1]);
    CHECK(counts[at] == static_cast<std::int64_t>(row[4]));
    CHECK(std::fabs(gimlet[at] - row[5]) <= 1e-10 * row[5]);
    total += counts[at];
  }
  CHECK(total == std::accumulate(counts.begin(), counts.end(), std::int64_t{0}));
}

TEST_CASE("impossible options are refused") {
  const FakeDomain domain =
      fake_cube(4, 0, 1, {{"a", wave}, {"n", wave, Centering::node}, {"v", wave, Centering::cell, 3}});
  const auto refused = [&](const AnalysisKind& kind, const std::string& yaml, const char* text) {
    CHECK_THROWS_WITH_AS(run_alone(kind, yaml, domain, {domain.mesh().cells}), doctest::Contains(text), Error);
  };
  refused(histogram_kind(), "{variable: a, scale: logarithmic, range: [0, 1]}",
          "a logarithmic scale needs positive values");
  refused(histogram_kind(), "{variable: a, weight: n}", "does not lie in the same points as 'a'");
  refused(histogram_kind(), "{variable: a, weight: v}", "'v' has 3 components");
  refused(histogram_kind(), "{variable: a, weight: a, bins: 100000}", "at most 65536");
  refused(histogram2d_kind(), "{x: {variable: a}, y: {variable: n}}", "does not lie in the same points");
  refused(histogram2d_kind(), "{x: {variable: a, range: [2, 1]}, y: {variable: a}}", "is not two finite numbers");
}
