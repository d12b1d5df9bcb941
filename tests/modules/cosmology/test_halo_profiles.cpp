// Profiles of halos, compared with a look at every cell, on any number of servers.
#include <cmath>
#include <limits>
#include <numbers>

#include "modules/cosmology/halo_checks.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

FakeDomain noisy(const Index3& size, int dimensions, unsigned seed, std::array<bool, 3> along) {
  FakeField density, other;
  density.name = "a";
  density.value = [seed](auto&, const Index3& p, int) {
    const double value = noise(p, seed);
    return value == 3 ? std::numeric_limits<double>::quiet_NaN() : value * std::pow(10.0, noise(p, seed + 50, 9) - 4);
  };
  other.name = "b";
  other.components = 2;
  other.value = [seed](auto&, const Index3& p, int c) {
    const double value = noise(p, seed + 7 + static_cast<unsigned>(c), 30) - 10;
    return value == 0 ? std::numeric_limits<double>::infinity() : value;
  };
  const Box cells{{2, -3, 5}, {2 + size[0], -3 + size[1], 5 + size[2]}};
  return periodic(
      FakeDomain(cells, std::make_shared<UniformGeometry>(std::array{1.0, 2.0, 3.0}, std::array{0.5, 0.25, 2.0}),
                 {density, other}, dimensions),
      along);
}

struct Shell {
  Index cells = 0;
  long double mass = 0;
  std::array<long double, 2> weights{}, products{};
};

/// Shells found from every cell of the mesh, or of a halo, and all periodic images of it.
std::vector<Shell> shells_of(const FakeDomain& domain, const Cells& cells, const std::vector<Index3>& wanted,
                             const std::array<double, 3>& middle, const std::vector<double>& edges) {
  const auto* uniform = dynamic_cast<const UniformGeometry*>(domain.mesh().geometry.get());
  std::vector<Shell> shells(edges.size());
  for (const Index3& cell : wanted) {
    const Index3 p{cell[0] + domain.mesh().cells.lo[0], cell[1] + domain.mesh().cells.lo[1],
                   cell[2] + domain.mesh().cells.lo[2]};
    double squared = 0;
    for (std::size_t a = 0; a < static_cast<std::size_t>(domain.mesh().dimensions); ++a) {
      double away = std::fabs(static_cast<double>(cell[a]) - middle[a]);
      const auto n = static_cast<double>(cells.size[a]);
      if (cells.periodic[a]) away = std::min({away, std::fabs(away - n), std::fabs(away + n)});
      squared += away * uniform->spacing()[a] * away * uniform->spacing()[a];
    }
    std::size_t s = 0;
    while (s < edges.size() && squared >= edges[s] * edges[s]) ++s;
    const double density = domain.value(0, p, 0);
    if (s == edges.size() || std::isnan(density)) continue;
    ++shells[s].cells;
    shells[s].mass += density;
    for (std::size_t c = 0; c < 2; ++c) {
      const double value = domain.value(1, p, static_cast<int>(c));
      if (!std::isfinite(value)) continue;
      shells[s].weights[c] += density;
      shells[s].products[c] += static_cast<long double>(density) * value;
    }
  }
  return shells;
}

std::vector<Index3> all_cells(const Cells& cells) {
  std::vector<Index3> all;
  for (std::size_t n = 0; n < cells.values.size(); ++n) all.push_back(cells.cell(static_cast<Index>(n)));
  return all;
}

void compare(const Table& profiles, std::size_t row, const std::vector<Shell>& shells, double volume) {
  long double within = shells[0].mass;
  Index cells = shells[0].cells;
  for (std::size_t s = 1; s < shells.size(); ++s, ++row) {
    const Shell& shell = shells[s];
    within += shell.mass;
    cells += shell.cells;
    CHECK(whole(profiles, row, "shell") == static_cast<Index>(s) - 1);
    CHECK(whole(profiles, row, "cells") == shell.cells);
    const auto same = [&](const char* column, long double expected) {
      if (std::isnan(static_cast<double>(expected))) {
        CHECK(std::isnan(real(profiles, row, column)));
      } else {
        CHECK(real(profiles, row, column) == doctest::Approx(static_cast<double>(expected)).epsilon(1e-12));
      }
    };
    same("mass", shell.mass * volume);
    same("mass_within", within * volume);
    same("density", shell.mass / static_cast<long double>(shell.cells));
    same("density_within", within / static_cast<long double>(cells));
    same("mean_b_0", shell.products[0] / shell.weights[0]);
    same("mean_b_1", shell.products[1] / shell.weights[1]);
  }
}

}  // namespace

TEST_CASE("shells have the cells that are in them, in every division") {
  MpiCommunicator world(test_ranks());
  for (const auto& [size, dimensions] :
       {std::pair{Index3{9, 7, 6}, 3}, {Index3{14, 11, 1}, 2}, {Index3{40, 1, 1}, 1}}) {
    for (unsigned seed = 0; seed < 4; seed += dimensions == 3 ? 3 : 1) {
      const FakeDomain domain = noisy(size, dimensions, seed, {(seed & 1) != 0, (seed & 2) != 0, seed == 3});
      const Cells cells(domain, 6);
      const auto expected = brute_force(cells, 1e-3, 5);
      REQUIRE(!expected.empty());
      const auto* uniform = dynamic_cast<const UniformGeometry*>(domain.mesh().geometry.get());
      double volume = 1;
      for (int a = 0; a < dimensions; ++a) volume *= uniform->spacing()[a];
      for (const bool sphere : {true, false}) {
        const std::string yaml =
            "{variable: a, boundary: 1e-3, halo: 5, connectivity: 6, profile: {radius: [0.3, 2.3], bins: 4, fields: b, of: " +
            std::string(sphere ? "sphere" : "halo") + "}}";
        const auto alone = run_alone(halos_kind(), yaml, domain, {domain.mesh().cells});
        const Table& profiles = alone.tables.at("halo-profiles-{index:05}.csv");
        REQUIRE(profiles.rows() == 4 * expected.size());
        std::size_t row = 0;
        for (const auto& [peak, halo] : expected) {
          const Index3 at = cells.cell(peak);
          const std::array<double, 3> middle{static_cast<double>(at[0]), static_cast<double>(at[1]),
                                             static_cast<double>(at[2])};
          compare(profiles, row,
                  shells_of(domain, cells, sphere ? all_cells(cells) : halo.cells, middle,
                            {0.3, 0.3 + 0.25 * 2.0, 0.3 + 0.5 * 2.0, 0.3 + 0.75 * 2.0, 2.3}),
                  volume);
          CHECK(whole(profiles, row, "peak_index") == peak);
          row += 4;
        }
        for (const std::size_t blocks : {3, 16}) {
          const Division division = dimensions == 3
                                        ? random_division(domain.mesh().cells, blocks, seed)
                                        : even_division(domain.mesh().cells, {static_cast<Index>(blocks) / 2, 1, 1});
          const auto some = run_analysis(halos_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = 2});
          if (world.rank() != 0) continue;
          for (const auto& [name, table] : alone.tables) CHECK(same_bits(some.tables.at(name), table));
        }
      }
    }
  }
}

TEST_CASE("about the centroid, round the end of the mesh") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = hashed(16);
  const Cells cells(domain, 14);
  for (const char* about : {"mass", "centre"}) {
    const std::string yaml =
        "{variable: a, boundary: 4, halo: 9, units: mean, profile: {radius: 9, bins: 3, about: " + std::string(about) +
        ", overdensities: [4, 2.5]}}";
    const auto alone = run_alone(halos_kind(), yaml, domain, {domain.mesh().cells});
    const Table& profiles = alone.tables.at("halo-profiles-{index:05}.csv");
    const Table& halos = alone.tables.at("halos-{index:05}.csv");
    REQUIRE(halos.rows() > 1);
    for (std::size_t h = 0; h < halos.rows(); ++h) {
      std::array<double, 3> middle{};
      for (std::size_t a = 0; a < 3; ++a) {
        const std::string column = (about[0] == 'm' ? std::string("mass_") : "centre_") + "xyz"[a];
        middle[a] = real(halos, h, column) * 16 / 20 - 0.5;
      }
      std::vector<Index> counts(4);
      for (const Index3& cell : all_cells(cells)) {
        double squared = 0;
        for (std::size_t a = 0; a < 3; ++a) {
          const double away = std::remainder(static_cast<double>(cell[a]) - middle[a], 16.0) * 20 / 16;
          squared += away * away;
        }
        std::size_t s = 0;
        while (s < 3 && std::sqrt(squared) >= 3.0 * static_cast<double>(s + 1)) ++s;
        ++counts[s];
      }
      for (std::size_t s = 0; s < 3; ++s) CHECK(whole(profiles, 3 * h + s, "cells") == counts[s]);
    }
    const auto some = run_analysis(halos_kind(), yaml, domain, random_division(domain.mesh().cells, 11, 4), world);
    if (world.rank() != 0) continue;
    for (const auto& [name, table] : alone.tables) CHECK(same_bits(some.tables.at(name), table));
  }
}

TEST_CASE("where a power law is so many times as dense") {
  // With rho = r^-2, the mean density within r is 3 r^-2. It is 200 times the reference at r = sqrt(3 / 200 /
  // reference).
  const auto value = [](const std::array<double, 3>& x, const Index3&, int) {
    const double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    return 1 / std::max(r2, 1e-4);
  };
  FakeDomain domain = fake_cube(61, -1, 1, {{"a", value}});
  const auto results = run_alone(halos_kind(),
                                 "{variable: a, boundary: 50, halo: 60, profile: {radius: [0.1, 0.9], bins: 16, scale: "
                                 "logarithmic, overdensities: [200, 2, 1e9], reference: 0.06}}",
                                 domain, even_division(domain.mesh().cells, {2, 3, 1}));
  const Table& halos = results.tables.at("halos-{index:05}.csv");
  REQUIRE(halos.rows() == 1);
  const double radius = std::sqrt(3 / 200.0 / 0.06);
  CHECK(real(halos, 0, "r_200") == doctest::Approx(radius).epsilon(0.01));
  CHECK(real(halos, 0, "mass_200") ==
        doctest::Approx(200 * 0.06 * 4 * std::numbers::pi / 3 * std::pow(real(halos, 0, "r_200"), 3)).epsilon(1e-12));
  CHECK(std::isnan(real(halos, 0, "r_2")));  // beyond the outermost shell
  CHECK(std::isnan(real(halos, 0, "mass_1000000000")));
}

TEST_CASE("no halo, and one cell") {
  const FakeDomain domain = noisy({5, 5, 5}, 3, 1, {true, true, true});
  const auto none =
      run_alone(halos_kind(), "{variable: a, boundary: 1e9, halo: 1e9, profile: {radius: 3, overdensities: 200}}",
                domain, {domain.mesh().cells});
  CHECK(none.tables.at("halo-profiles-{index:05}.csv").rows() == 0);
  CHECK(none.tables.at("halos-{index:05}.csv").rows() == 0);
  const FakeDomain one = periodic(fake_cube(1, 0, 2, {{"a", [](auto&, auto&, int) { return 7.0; }}}));
  const auto table =
      run_alone(halos_kind(), "{variable: a, boundary: 7, halo: 7, profile: {radius: 3, bins: 1, units: cells}}", one,
                {one.mesh().cells})
          .tables.at("halo-profiles-{index:05}.csv");
  REQUIRE(table.rows() == 1);
  CHECK(whole(table, 0, "cells") == 1);  // however many of its images are within the radius
  CHECK(real(table, 0, "upper") == 6);
  CHECK(real(table, 0, "mass") == 56);
}

TEST_CASE("what makes no profile is refused") {
  const FakeDomain domain = noisy({4, 4, 4}, 3, 1, {});
  const auto refused = [&](const std::string& profile, const char* why) {
    CHECK_THROWS_WITH_AS(run_alone(halos_kind(), "{variable: a, boundary: 1, halo: 1, profile: " + profile + "}",
                                   domain, {domain.mesh().cells}),
                         doctest::Contains(why), Error);
  };
  refused("{radius: [2, 1]}", "the lower one first");
  refused("{radius: [0, 1], scale: logarithmic}", "above 0 on a logarithmic scale");
  refused("{radius: 1, of: halo, overdensities: 200}", "`of: sphere`");
  refused("{radius: 1, overdensities: [0]}", "numbers above 0");
  refused("{radius: 1, overdensities: [200], reference: -1}", "one above 0");
  refused("{radius: 1, reference: 3}", "found 'reference' without `overdensities`");
  refused("{radius: 1, fields: [c]}", "c");
  refused("{radius: [1, 1.0000000000000002], bins: 50}", "too narrow");
  // Nodes must not be taken for cells, also with refinement levels.
  const auto value = [](auto&, auto&, int) { return 1.0; };
  FakeDomain nodes = fake_cube(4, 0, 1, {{"a", value}, {"b", value, Centering::node}});
  for (const std::vector<Index3>& levels : {std::vector<Index3>{}, {{2, 2, 2}}}) {
    nodes.metadata.meshes[0].refinement = levels;
    CHECK_THROWS_WITH_AS(run_alone(halos_kind(), "{variable: a, boundary: 1, halo: 1, profile: {radius: 1, fields: b}}",
                                   nodes, {nodes.mesh().cells}),
                         doctest::Contains("'b' lies at nodes"), Error);
  }
}

TEST_CASE("labels are the numbers of the rows whose cells they are, on every server's planes") {
  MpiCommunicator world(test_ranks());
  std::int32_t most = 0;
  for (const auto& [size, dimensions] :
       {std::pair{Index3{9, 7, 6}, 3}, {Index3{14, 11, 1}, 2}, {Index3{40, 1, 1}, 1}}) {
    for (unsigned seed = 0; seed < 2; ++seed) {
      FakeDomain domain = noisy(size, dimensions, seed, {true, seed == 1, false});
      if (seed == 1) domain.metadata.variables[0].order = Order::row;
      const Cells cells(domain, 18);
      const std::string yaml =
          "{variable: a, boundary: 30, halo: 50, connectivity: 18, labels: {}, profile: {radius: 1}}";
      const Division division = dimensions == 3 ? random_division(domain.mesh().cells, 9, seed)
                                                : even_division(domain.mesh().cells, {5, 1, 1});
      const auto results = run_analysis(halos_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = 2});
      if (world.rank() != 0) continue;
      const DataSet& data = results.data_sets.at("halo-labels-{index:05}.h5");
      REQUIRE(data.arrays.size() == 1 + static_cast<std::size_t>(dimensions));
      const DataSet::Array& labels = data.arrays[0];
      CHECK(labels.type == Type::int32);
      CHECK(labels.axes.back() == "x");
      std::vector<std::int32_t> expected(cells.values.size(), -1), found(expected.size());
      REQUIRE(labels.values.size() == 4 * found.size());
      std::memcpy(found.data(), labels.values.data(), labels.values.size());
      std::int32_t number = 0;
      for (const auto& [peak, halo] : brute_force(cells, 30, 50)) {
        for (const Index3& p : halo.cells) {
          expected[static_cast<std::size_t>(p[0] + size[0] * (p[1] + size[1] * p[2]))] = number;
        }
        ++number;
      }
      most = std::max(most, number);
      CHECK(found == expected);
      CHECK(data.arrays[1].name == "x");
      double second = 0;
      std::memcpy(&second, data.arrays[1].values.data() + sizeof second, sizeof second);
      CHECK(second == 1.0 + 0.5 * (2 + 1.5));
    }
  }
  if (world.rank() == 0) CHECK(most > 3);
}
