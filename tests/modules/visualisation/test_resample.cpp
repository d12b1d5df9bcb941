// Resampling of fields that are known everywhere; the same bytes for every division.
#include <doctest/doctest.h>

#include <cmath>

#include "support/fake_domain.hpp"
#include "support/grid_checks.hpp"
#include "support/list_blocks.hpp"
#include "support/ranks.hpp"
#include "visualisation/kinds.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const char* const file = "resampled-{index:05}.h5";

double linear(const std::array<double, 3>& x, const Index3&, int c) { return 2 * x[0] - 3 * x[1] + x[2] + 10 * c; }
double wave(const std::array<double, 3>& x, const Index3&, int c) {
  return std::sin(5 * x[0]) * std::cos(4 * x[1]) + x[2] + c;
}

DataSet alone(const FakeDomain& domain, const std::string& yaml, const Division& division, const FakeRun& how = {}) {
  return run_alone(resample_kind(), yaml, domain, division, how).data_sets.at(file);
}

}  // namespace

TEST_CASE("linear fields between nodes and between centres, on a grid of another size") {
  for (const Centering centering : {Centering::node, Centering::cell, Centering::x_edge}) {
    const FakeDomain domain = fake_cube(6, -1, 2, {{"a", linear, centering, 2}});
    // This region lies within the outermost centres.
    const DataSet data =
        alone(domain, "{variables: a, size: [5, 4, 3], low: [-0.7, -0.5, 0], high: [1.7, 1, 1], method: linear}",
              random_division(domain.mesh().cells, 7, 1), {.ghosts = 1, .partials = 2});
    const auto x = reals_of(data, "x"), y = reals_of(data, "y"), z = reals_of(data, "z");
    CHECK(array_of(data, "a_1").extents == std::vector<Index>{3, 4, 5});
    for (std::size_t n = 0; n < 60; ++n) {
      const std::array place{x[n % 5], y[n / 5 % 4], z[n / 20]};
      for (int c = 0; c < 2; ++c) {
        REQUIRE(reals_of(data, "a_" + std::to_string(c))[n] == doctest::Approx(linear(place, {}, c)).epsilon(1e-12));
      }
    }
    CHECK(x[0] == doctest::Approx(-0.46));
  }
}

TEST_CASE("the nearest value on the mesh's own grid is the mesh's own value") {
  const FakeDomain domain = fake_cube(5, 0, 1, {{"a", wave}});
  const DataSet data = alone(domain, "{variables: a, size: [5, 5, 5]}", random_division(domain.mesh().cells, 9, 1));
  const std::vector<double> values = reals_of(data, "a");
  for (Index n = 0; n < 125; ++n) {
    CHECK(values[static_cast<std::size_t>(n)] == domain.value(0, {n % 5, n / 5 % 5, n / 25}, 0));
  }
}

TEST_CASE("a grid that reaches beyond the mesh, and blocks that are not there") {
  const FakeDomain domain = fake_square(4, 0, 1, {{"a", wave, Centering::node}});
  const DataSet data = alone(domain, "{variables: a, size: [8, 2], low: [-1, 0], high: [1, 1]}",
                             even_division(domain.mesh().cells, {2, 1, 1}), {.absent = {1}});
  const std::vector<double> values = reals_of(data, "a");
  for (std::size_t n = 0; n < 16; ++n) CHECK(std::isnan(values[n]) == (n % 8 < 4 || n % 8 > 5));
  CHECK(std::get<std::int64_t>(data.attributes.at(0).value) == 12);
}

TEST_CASE("the same bytes for every division and number of servers") {
  MpiCommunicator world(test_ranks());
  for (const Centering centering : {Centering::cell, Centering::node, Centering::y_face}) {
    for (const char* method : {"nearest", "linear"}) {
      const FakeDomain domain = fake_cube(8, -1, 1, {{"a", wave, centering, 2, Type::float32, Order::row}});
      const std::string yaml = std::string("{variables: a, size: [7, 9, 11], method: ") + method + "}";
      const DataSet expected = alone(domain, yaml, {domain.mesh().cells});
      for (unsigned seed = 0; seed < 3; ++seed) {
        const Division division = random_division(domain.mesh().cells, 1 + 4 * seed, seed);
        const auto result =
            run_analysis(resample_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = 1 + seed});
        if (world.rank() == 0) CHECK(same_bits(result.data_sets.at(file), expected));
      }
    }
  }
}

TEST_CASE("triangles in the plane") {
  MpiCommunicator self(MPI_COMM_SELF);
  ListDomain domain(MeshKind::unstructured, 2);
  domain.add("pos", Type::float32, 2, Centering::node, Role::coordinates);
  domain.add("links", Type::int32, 1, Centering::cell, Role::connectivity);
  domain.add("ends", Type::int32, 1, Centering::cell, Role::offsets);
  domain.add("kinds", Type::uint8, 1, Centering::cell, Role::types);
  domain.add("n", Type::float64, 1, Centering::node);
  domain.add("t", Type::float64, 1, Centering::cell);
  domain.metadata.variables[1].type = domain.metadata.variables[2].type = Type::int64;
  std::vector<ListBlock> blocks{{2, 4, 6, {}}};
  blocks[0].values = {{"pos", std::vector<float>{0, 0, 1, 0, 1, 1, 0, 1}},
                      {"links", std::vector<std::int64_t>{0, 1, 2, 0, 2, 3}},
                      {"ends", std::vector<std::int64_t>{3, 6}},
                      {"kinds", std::vector<std::uint8_t>{5, 5}},
                      {"n", std::vector<double>{0, 1, 11, 10}},
                      {"t", std::vector<double>{7, 8}}};
  const std::string grid = "size: [3, 4], low: [0, 0], high: [1, 1]";
  const DataSet nodes = run_lists(resample_kind(), "{variables: n, method: linear, " + grid + "}", domain, blocks, self)
                            .data_sets.at(file);
  const DataSet cells =
      run_lists(resample_kind(), "{variables: t, " + grid + "}", domain, blocks, self).data_sets.at(file);
  const auto x = reals_of(nodes, "x"), y = reals_of(nodes, "y");
  for (std::size_t n = 0; n < 12; ++n) {
    CHECK(reals_of(nodes, "n")[n] == doctest::Approx(x[n % 3] + 10 * y[n / 3]));
    CHECK(reals_of(cells, "t")[n] == (x[n % 3] >= y[n / 3] ? 7 : 8));
  }
}

TEST_CASE("what cannot be resampled is refused with a sentence") {
  const FakeDomain domain = fake_cube(3, 0, 1, {{"a", wave}});
  const auto refused = [&](const std::string& yaml, const char* text) {
    CHECK_THROWS_WITH_AS(static_cast<void>(alone(domain, yaml, {domain.mesh().cells})), doctest::Contains(text), Error);
  };
  refused("{variables: a, size: [3, 3]}", "found 2 numbers, expected 3");
  refused("{variables: a, size: [3, 3, 3], low: [0, 0, 0]}", "or neither of them");
  refused("{variables: a, size: [3, 3, 3], low: [0, 0, 2], high: [1, 1, 1]}", "from 2 to 1 along z");
}
