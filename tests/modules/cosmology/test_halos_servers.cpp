// Halos on several servers, compared with reference tables; the same bits for every division.
#include <cmath>

#include "modules/cosmology/halo_checks.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

TEST_CASE("the tables are those of the reference") {
  const FakeDomain domain = hashed(64);
  MpiCommunicator world(test_ranks());
  const double volume = std::pow(20.0 / 64, 3);
  for (const int connectivity : {6, 14, 26}) {
    const auto rows = reference_rows("hash_64_c" + std::to_string(connectivity) + "_halos_tb8_th20_min0.csv");
    const std::string yaml =
        "{variable: a, boundary: 8, halo: 20, units: mean, connectivity: " + std::to_string(connectivity) + "}";
    Table first;
    for (const Division& division :
         {Division{domain.mesh().cells}, even_division(domain.mesh().cells, {4, 2, 3}),
          random_division(domain.mesh().cells, 17, 5), even_division(domain.mesh().cells, {4, 4, 4}),
          random_division(domain.mesh().cells, 64, 6)}) {
      const auto results = run_analysis(halos_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = 2});
      if (world.rank() != 0) continue;
      const Table& table = results.tables.at("halos-{index:05}.csv");
      if (first.rows() == 0) first = table;
      CHECK(same_bits(table, first));
      REQUIRE(table.rows() == rows.size());
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto& row = rows[r];
        CHECK(whole(table, r, "peak_index") == static_cast<Index>(row.at("peak_index")));
        CHECK(real(table, r, "peak_value") == row.at("peak_density"));
        CHECK(whole(table, r, "cells") == static_cast<Index>(row.at("n_cells")));
        CHECK(std::fabs(real(table, r, "mass") / volume / row.at("mass_sum_rho") - 1) < 1e-12);
        for (const auto& [column, of] : {std::pair{"mass_x", "com_i"}, {"mass_y", "com_j"}, {"mass_z", "com_k"}}) {
          double away = real(table, r, column) / 20 * 64 - 0.5 - row.at(of);
          away -= 64 * std::round(away / 64);
          CHECK(std::fabs(away) < 1e-8);
        }
      }
    }
  }
}

TEST_CASE("the same bits for every division and number of servers") {
  MpiCommunicator world(test_ranks());
  // Values have both signs and 26 orders of magnitude, so that a sum that depends on the order would show.
  const auto value = [](auto&, const Index3& p, int) {
    const double size = noise(p, 3, 20);
    return size * std::pow(10.0, noise(p, 9, 26) - 13);
  };
  const FakeDomain domain = periodic(fake_cube(11, 0, 1, {{"a", value}}));
  for (
      const std::string yaml :
      {"{variable: a, boundary: 1e-3, halo: 10, units: mean, mass_function: {bins: 7, image: {file: m.png, size: [200, 150]}}}",
       "{variable: a, boundary: -1, halo: 0, mass_function: {range: [1, 2]}}"}) {
    const auto expected = run_alone(halos_kind(), yaml, domain, {domain.mesh().cells});
    CHECK(expected.tables.at("halos-{index:05}.csv").rows() > 0);
    for (unsigned seed = 0; seed < 7; ++seed) {
      const Division division = random_division(domain.mesh().cells, std::size_t{1} << seed, seed);
      const auto result =
          run_analysis(halos_kind(), yaml, domain, division, world, {.ghosts = 1, .partials = 1 + seed % 3});
      if (world.rank() != 0) continue;
      for (const auto& [name, table] : expected.tables) CHECK(same_bits(result.tables.at(name), table));
      for (const auto& [name, chart] : expected.charts) CHECK(result.charts.at(name).arguments == chart.arguments);
    }
  }
}
