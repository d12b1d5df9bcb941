// Projections, compared with sums in extended precision; the same bytes for every division.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "sidestream/kit/reduce/exact_sum_forms.hpp"
#include "sidestream/kit/reduce/grid_sums.hpp"
#include "support/fake_domain.hpp"
#include "support/grid_checks.hpp"
#include "support/ranks.hpp"
#include "visualisation/graphics/colour.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const char* const file = "projection-{index:05}.h5";

double wave(const std::array<double, 3>& x, const Index3&, int c) {
  return std::sin(5 * x[0]) + std::cos(4 * x[1] * x[2]) * std::exp(9 * x[0]) + c;
}
double positive(const std::array<double, 3>& x, const Index3&, int) { return 1.5 + std::sin(7 * x[0] + 3 * x[2]); }

FakeDomain uneven(std::vector<FakeField> fields, int dimensions = 3) {
  const std::vector<double> x{-1, -0.5, -0.25, 0.75, 1}, y{0, 0.1, 0.3, 0.7, 1.5, 1.6}, z{3, 2, 1.5, 1.25};
  const Box cells{{0, 0, 0}, {4, 5, dimensions > 2 ? 3 : 1}};
  const std::array nodes{x, y, dimensions > 2 ? z : std::vector<double>{0, 0}};
  return FakeDomain(cells, std::make_shared<RectilinearGeometry>(Index3{0, 0, 0}, nodes), std::move(fields),
                    dimensions);
}

struct Ray {
  long double sum = 0, weights = 0, length = 0;
};

/// Sums by the definition, with the trapezoidal rule for values at nodes.
std::vector<Ray> columns(const FakeDomain& domain, int axis, bool weighted) {
  const Variable& v = domain.metadata.variables[0];
  const Box points = v.points(domain.mesh().cells), cells = domain.mesh().cells;
  const Axes& axes = *domain.mesh().axes();
  const int u = axis == 0 ? 1 : 0, w = 3 - axis - u;
  std::vector<Ray> all(static_cast<std::size_t>(points.extent(u) * points.extent(w)));
  for (Index k = points.lo[2]; k < points.hi[2]; ++k) {
    for (Index j = points.lo[1]; j < points.hi[1]; ++j) {
      for (Index i = points.lo[0]; i < points.hi[0]; ++i) {
        const Index3 p{i, j, k};
        const Index n = p[axis];
        const auto width = [&](Index cell) -> long double {
          if (cell < cells.lo[axis] || cell >= cells.hi[axis]) return 0;
          return std::fabs(static_cast<long double>(axes.node(axis, cell + 1)) - axes.node(axis, cell));
        };
        const long double h = at_nodes(v.centering, axis) ? (width(n - 1) + width(n)) / 2 : width(n);
        const long double weight = weighted ? domain.value(1, p, 0) : 1.0;
        Ray& c = all[static_cast<std::size_t>((p[w] - points.lo[w]) * points.extent(u) + p[u] - points.lo[u])];
        c.sum += domain.value(0, p, 0) * weight * h;
        c.weights += weight * h;
        c.length += h;
      }
    }
  }
  return all;
}

DataSet alone(const FakeDomain& domain, const std::string& yaml, const Division& division, const FakeRun& how = {}) {
  return run_alone(projection_kind(), yaml, domain, division, how).data_sets.at(file);
}

bool near(double value, long double expected) {
  return std::fabs(value - static_cast<double>(expected)) <= 1e-14 * std::max(1.0, std::fabs(value));
}

}  // namespace

TEST_CASE("packed sums keep every bit") {
  std::mt19937_64 random(3);
  std::uniform_int_distribution<int> exponent(-1070, 960);
  for (int round = 0; round < 2000; ++round) {
    ExactSum sum, twice;
    for (int n = 0; n < round % 7; ++n) {
      const double x = std::ldexp(static_cast<double>(random() >> 11) - 0x1p52, exponent(random) - 53);
      sum.add(x);
      twice.add(x);
      twice.add(x);
    }
    if (round % 50 == 1) sum.add(std::numeric_limits<double>::infinity());
    std::vector<std::uint32_t> words{7};
    pack(sum, words);
    pack(sum, words);
    ExactSum once, both;
    const std::size_t length = add_packed(&words[1], words.size() - 1, once);
    CHECK(words.size() == 1 + 2 * length);
    CHECK(once.serialise() == sum.serialise());
    add_packed(&words[1], length, both);
    add_packed(&words[1 + length], length, both);
    if (round % 50 != 1) CHECK(both.serialise() == twice.serialise());
    CHECK_THROWS_AS(static_cast<void>(packed_length(words.data() + 1, length - 1)), Error);
  }
  ExactSum few;
  for (int n = 0; n < 1000; ++n) few.add(-1.0 / (n + 1));
  std::vector<std::uint32_t> words;
  pack(few, words);
  CHECK(words.size() <= 6);
}

TEST_CASE("sums of cells that are added to often stay small and exact") {
  if (MpiCommunicator(test_ranks()).rank() != 0) return;  // one process is enough
  const GridShape grid({3, 5});
  GridSums often(grid, 2);
  std::array<ExactSum, 2> one, total;
  one[0].add(0.1);
  one[1].add(-7);
  for (int n = 0; n < 300'000; ++n) {
    often.add(n % 2 == 0 ? 4 : 11, one);
    often.add_up();
    if (n % 2 == 0) {
      for (std::size_t s = 0; s < 2; ++s) total[s].add(one[s]);
    }
  }
  const Bytes bytes = often.take();
  CHECK(bytes.size() < std::size_t{5} << 20);  // otherwise it would be about 9 MB
  MpiCommunicator self(MPI_COMM_SELF);
  const std::vector<BytesView> partials{bytes};
  const auto rows = rows_of(partials, grid, self);
  int found = 0;
  for (std::size_t row = 0; row < 3; ++row) {
    for_each_sum(rows[row], 2, [&](Index cell, std::span<const ExactSum> sums) {
      ++found;
      CHECK(static_cast<Index>(row) * 5 + cell == (found == 1 ? 4 : 11));
      for (std::size_t s = 0; s < 2; ++s) CHECK(sums[s].value() == total[s].value());
    });
  }
  CHECK(found == 2);
}

TEST_CASE("integrals and means along each axis, wherever values lie") {
  for (const Centering centering : every_centering) {
    for (const int dimensions : {2, 3}) {
      if (dimensions == 2 && (static_cast<int>(centering) & 4) != 0) continue;
      const FakeDomain domain = uneven({{"a", wave, centering}, {"w", positive, centering}}, dimensions);
      const Division division = random_division(domain.mesh().cells, 5, 4);
      for (int axis = 0; axis < dimensions; ++axis) {
        for (const bool weighted : {false, true}) {
          const std::vector<Ray> expected = columns(domain, axis, weighted);
          const std::string options =
              std::string("variable: a, axis: ") + "xyz"[axis] + (weighted ? ", weight: w" : "");
          const FakeRun how{.ghosts = 1, .partials = 2};
          const DataSet integral = alone(domain, "{" + options + "}", division, how);
          const DataSet mean = alone(domain, "{" + options + ", quantity: mean}", division, how);
          REQUIRE(reals_of(integral, "a").size() == expected.size());
          for (std::size_t n = 0; n < expected.size(); ++n) {
            REQUIRE(near(reals_of(integral, "a")[n], expected[n].sum));
            REQUIRE(near(reals_of(integral, "length")[n], expected[n].length));
            REQUIRE(near(reals_of(mean, "a")[n], expected[n].sum / expected[n].weights));
            if (weighted) REQUIRE(near(reals_of(mean, "weight")[n], expected[n].weights));
          }
        }
      }
    }
  }
}

TEST_CASE("the data set says where it is") {
  const FakeDomain domain = uneven({{"a", wave}, {"x", wave}});
  const DataSet data = alone(domain, "{variable: a, axis: y}", {domain.mesh().cells});
  CHECK(array_of(data, "a").axes == std::vector<std::string>{"z", "x"});
  CHECK(array_of(data, "a").extents == std::vector<Index>{3, 4});
  CHECK(reals_of(data, "x") == std::vector<double>{-0.75, -0.375, 0.25, 0.875});
  CHECK(reals_of(data, "z") == std::vector<double>{2.5, 1.75, 1.375});
  const DataSet other = alone(domain, "{variable: x, axis: y}", {domain.mesh().cells});
  CHECK(reals_of(other, "x").size() == 12);  // the values
  CHECK(reals_of(other, "x_").size() == 4);
}

TEST_CASE("the same bytes for every division and number of servers") {
  MpiCommunicator world(test_ranks());
  for (const Centering centering : {Centering::cell, Centering::node, Centering::y_face}) {
    for (const Order order : {Order::column, Order::row}) {
      const FakeDomain domain = fake_cube(
          9, -1, 1,
          {{"a", wave, centering, 2, Type::float32, order}, {"w", positive, centering, 1, Type::float64, order}});
      for (const char axis : {'x', 'y', 'z'}) {
        const std::string yaml =
            std::string("{variable: a, component: 1, weight: w, quantity: mean, axis: ") + axis + "}";
        const DataSet expected = alone(domain, yaml, {domain.mesh().cells});
        for (unsigned seed = 0; seed < 3; ++seed) {
          const Division division = random_division(domain.mesh().cells, 1 + 4 * seed, seed);
          const auto result =
              run_analysis(projection_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = 1 + seed});
          if (world.rank() == 0) CHECK(same_bits(result.data_sets.at(file), expected));
        }
      }
    }
  }
}

TEST_CASE("what is not there, NaN and great numbers") {
  const double greatest = std::numeric_limits<double>::max();
  const FakeDomain domain({{0, 0, 0}, {4, 1, 2}},
                          std::make_shared<UniformGeometry>(std::array{0., 0., 0.}, std::array{1., 1., 1.}),
                          {{"a", [&](auto&, const Index3& p, int) {
                              if (p[0] == 0) return p[2] == 0 ? std::nan("") : 1.0;
                              if (p[0] == 1) return p[2] == 0 ? greatest : -greatest;
                              return p[2] == 0 ? 1e300 : 1.0;
                            }}});
  const Division division = even_division(domain.mesh().cells, {4, 1, 2});
  const DataSet data = alone(domain, "{variable: a, axis: z}", division, {.absent = {3, 6}});
  const std::vector<double> a = reals_of(data, "a"), length = reals_of(data, "length");
  CHECK(std::isnan(a[0]));
  CHECK(a[1] == 0);
  CHECK(a[2] == 1e300);  // half of the column has values
  CHECK(a[3] == 1);
  CHECK(length == std::vector<double>{2, 2, 1, 1});
  const DataSet none = alone(domain, "{variable: a, axis: z}", {domain.mesh().cells}, {.absent = {0}});
  for (const double value : reals_of(none, "a")) CHECK(std::isnan(value));
  CHECK(reals_of(none, "length") == std::vector<double>{0, 0, 0, 0});
}

TEST_CASE("a picture shows the values in their places, and is the same bytes everywhere") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = fake_cube(8, 0, 1, {{"a", [](auto&, const Index3& p, int) { return p[0] + 10.0 * p[1]; }}});
  const std::string yaml =
      "{variable: a, axis: z, quantity: mean, image: {file: a.png, size: [300, 200], caption: none, range: [0, 80]}}";
  const auto expected = run_alone(projection_kind(), yaml, domain, {domain.mesh().cells}).images.at("a.png");
  const auto result =
      run_analysis(projection_kind(), yaml, domain, even_division(domain.mesh().cells, {2, 2, 3}), world);
  if (world.rank() == 0) CHECK(result.images.at("a.png").rgba == expected.rgba);
  // Every value has its colour, in about as many pixels as a cell of the picture has.
  const rendering::ColourMap map("viridis");
  const auto count = [&](double value) {
    const rendering::Colour colour = map.at(value / 80);
    std::size_t pixels = 0;
    for (std::size_t n = 0; n < expected.rgba.size(); n += 4) {
      pixels +=
          expected.rgba[n] == colour.red && expected.rgba[n + 1] == colour.green && expected.rgba[n + 2] == colour.blue;
    }
    return pixels;
  };
  for (const double value : {0.0, 7.0, 33.0, 44.0, 70.0, 77.0}) CHECK(count(value) > 250);
  CHECK(count(79.5) < 60);  // only in the colour bar
}

TEST_CASE("colours may go with the logarithm; what has none is grey") {
  const FakeDomain domain =
      fake_cube(4, 0, 1, {{"a", [](auto&, const Index3& p, int) { return p[0] == 0 ? -1 : std::pow(10.0, p[0]); }}});
  const std::string yaml =
      "{variable: a, axis: z, quantity: mean, image: {file: a.png, size: [200, 150], caption: none, scale: logarithmic}}";
  const auto image = run_alone(projection_kind(), yaml, domain, {domain.mesh().cells}).images.at("a.png");
  const rendering::ColourMap map("viridis");
  const auto count = [&](const rendering::Colour& colour) {
    std::size_t pixels = 0;
    for (std::size_t n = 0; n < image.rgba.size(); n += 4) {
      pixels += image.rgba[n] == colour.red && image.rgba[n + 1] == colour.green && image.rgba[n + 2] == colour.blue;
    }
    return pixels;
  };
  const std::size_t grey = count(map.at(std::nan("")));
  CHECK(grey > 1000);
  for (const double fraction : {0.0, 0.5}) {
    CHECK(count(map.at(fraction)) + 300 > grey);  // columns are not all as wide
    CHECK(count(map.at(fraction)) < grey + 300);  // in the colour bar too
  }
}

TEST_CASE("what cannot be projected is refused with a sentence") {
  const FakeDomain domain = uneven({{"a", wave}, {"n", wave, Centering::node}});
  const FakeDomain flat = uneven({{"a", wave}}, 2);
  const auto refused = [](const FakeDomain& d, const std::string& yaml, const char* text) {
    CHECK_THROWS_WITH_AS(static_cast<void>(alone(d, yaml, {d.mesh().cells})), doctest::Contains(text), Error);
  };
  refused(domain, "{variable: a, axis: x, weight: n}", "weigh with a variable of the same mesh and centring");
  refused(domain, "{variable: a, axis: x, level: 1}", "has no level 1; its finest is 0");
  refused(domain, "{variable: a, axis: x, weight_component: 1}", "there is no `weight`");
  refused(flat, "{variable: a, axis: z}", "has two dimensions and no axis z");
  refused(flat, "{variable: a, axis: x, image: {file: a.png}}", "its projection is a line");
  FakeDomain levels = uneven({{"a", wave}});
  levels.metadata.meshes[0].refinement.push_back({2, 2, 2});
  refused(levels, "{variable: a, axis: x}", "rectilinear and has refinement levels");
  FakeDomain nodes = fake_cube(4, 0, 1, {{"n", wave, Centering::node}});
  nodes.metadata.meshes[0].refinement.push_back({2, 2, 2});
  refused(nodes, "{variable: n, axis: x}", "only values in cells can be projected");
  refused(domain, "{variable: a, axis: x, image: {file: a.png, scale: logarithmic, range: [-1, 1]}}", "above 0");
}
