// Halos, compared with a look at every cell.
#include <cmath>
#include <limits>
#include <random>

#include "modules/cosmology/halo_checks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

FakeDomain noisy(const Index3& size, int dimensions, unsigned seed, FakeField field = {}) {
  field.name = "a";
  field.value = [seed](auto&, const Index3& p, int) { return noise(p, seed); };
  const Box cells{{2, -3, 5}, {2 + size[0], -3 + size[1], 5 + size[2]}};
  return FakeDomain(cells, std::make_shared<UniformGeometry>(std::array{1.0, 2.0, 3.0}, std::array{0.5, 0.25, 2.0}),
                    {field}, dimensions);
}

Table found(const FakeDomain& domain, const std::string& yaml, const Division& division, const FakeRun& how = {}) {
  return run_alone(halos_kind(), yaml, domain, division, how).tables.at("halos-{index:05}.csv");
}

/// Compares every number of the table with the cells of the expected halo.
void compare(const Table& table, const std::map<Index, FoundHalo>& expected, const FakeDomain& domain) {
  REQUIRE(table.rows() == expected.size());
  const Cells cells(domain);
  const auto& mesh = domain.mesh();
  const auto* uniform = dynamic_cast<const UniformGeometry*>(mesh.geometry.get());
  double volume = 1;
  for (int a = 0; a < mesh.dimensions; ++a) volume *= uniform->spacing()[a];
  std::size_t row = 0;
  for (const auto& [peak, halo] : expected) {
    CHECK(whole(table, row, "halo") == static_cast<Index>(row));
    CHECK(whole(table, row, "peak_index") == peak);
    CHECK(real(table, row, "peak_value") == halo.value);
    CHECK(whole(table, row, "cells") == static_cast<Index>(halo.cells.size()));
    CHECK(real(table, row, "mass") == doctest::Approx(static_cast<double>(halo.mass) * volume).epsilon(1e-13));
    const Index3 at = cells.cell(peak);
    for (std::size_t a = 0; a < static_cast<std::size_t>(mesh.dimensions); ++a) {
      const std::string ijk(1, "ijk"[a]), xyz(1, "xyz"[a]);
      CHECK(whole(table, row, "peak_" + ijk) == at[a] + mesh.cells.lo[a]);
      Index low = 0, high = 0;
      double weighted = 0, plain = 0;
      for (const Index3& cell : halo.cells) {
        Index d = cell[a] - at[a];
        if (mesh.periodic[a]) {
          if (2 * d >= cells.size[a]) d -= cells.size[a];
          if (2 * d < -cells.size[a]) d += cells.size[a];
        }
        low = std::min(low, d);
        high = std::max(high, d);
        plain += static_cast<double>(d);
        weighted +=
            static_cast<double>(d) *
            cells.values[static_cast<std::size_t>((cell[0] * cells.size[1] + cell[1]) * cells.size[2] + cell[2])];
      }
      CHECK(whole(table, row, "low_" + ijk) == at[a] + mesh.cells.lo[a] + low);
      CHECK(whole(table, row, "high_" + ijk) == at[a] + mesh.cells.lo[a] + high);
      const auto place = [&](double d) {
        double x = static_cast<double>(at[a]) + 0.5 + d;
        if (mesh.periodic[a])
          x -= std::floor(x / static_cast<double>(cells.size[a])) * static_cast<double>(cells.size[a]);
        return uniform->origin()[a] + uniform->spacing()[a] * (x + static_cast<double>(mesh.cells.lo[a]));
      };
      CHECK(real(table, row, "peak_" + xyz) == doctest::Approx(place(0)).epsilon(1e-12));
      CHECK(real(table, row, "mass_" + xyz) ==
            doctest::Approx(place(weighted / static_cast<double>(halo.mass))).epsilon(1e-10));
      CHECK(real(table, row, "centre_" + xyz) ==
            doctest::Approx(place(plain / static_cast<double>(halo.cells.size()))).epsilon(1e-10));
    }
    ++row;
  }
}

}  // namespace

TEST_CASE("what the table says is true of the cells") {
  for (const int connectivity : {6, 14, 18, 26}) {
    for (unsigned seed = 0; seed < 6; ++seed) {
      const std::array<bool, 3> along{(seed & 1) != 0, (seed & 2) != 0, (seed & 4) != 0};
      FakeField field;
      field.type = seed % 2 == 0 ? Type::float64 : Type::float32;
      field.order = seed % 3 == 0 ? Order::row : Order::column;
      const FakeDomain domain = periodic(noisy({9, 7, 8}, 3, seed, field), along);
      const double boundary = connectivity > 6 ? 11 : 9;
      const std::string yaml = "{variable: a, boundary: " + std::to_string(boundary) +
                               ", halo: 11, connectivity: " + std::to_string(connectivity) + ", minimum_cells: 2}";
      const auto expected = brute_force(Cells(domain, connectivity), boundary, 11, 2);
      CHECK(expected.size() > 2);
      compare(found(domain, yaml, {domain.mesh().cells}), expected, domain);
      compare(
          found(domain, yaml, random_division(domain.mesh().cells, 1 + 9 * seed, seed), {.ghosts = 2, .partials = 3}),
          expected, domain);
    }
  }
}

TEST_CASE("planes and lines") {
  for (unsigned seed = 0; seed < 4; ++seed) {
    FakeField field;
    field.order = seed % 2 == 0 ? Order::row : Order::column;
    const std::array<bool, 3> along{seed > 1, true, false};
    for (const auto& [size, dimensions] : {std::pair{Index3{13, 11, 1}, 2}, {Index3{40, 1, 1}, 1}}) {
      const FakeDomain domain = periodic(noisy(size, dimensions, seed, field), along);
      for (const int connectivity : {6, 14, 26}) {
        const auto expected = brute_force(Cells(domain, connectivity), 8, 10);
        const std::string yaml =
            "{variable: a, boundary: 8, halo: 10, connectivity: " + std::to_string(connectivity) + "}";
        const Table table = found(domain, yaml, even_division(domain.mesh().cells, {3, dimensions > 1 ? 2 : 1, 1}));
        compare(table, expected, domain);
        CHECK(found(domain, yaml, {domain.mesh().cells}).rows() == expected.size());
      }
    }
  }
}

TEST_CASE("blobs over every face, edge and corner are one halo each") {
  for (Index place = 0; place < 27; ++place) {
    // Along each axis, 0 is at the end of the periodic mesh, 1 where blocks meet, and 2 inside a block.
    const std::array<double, 3> at{6.0 * (place % 3), 6.0 * (place / 3 % 3), 6.0 * (place / 9)};
    const std::array<double, 3> middle{at[0] == 12 ? 3 : at[0], at[1] == 12 ? 3 : at[1], at[2] == 12 ? 3 : at[2]};
    const auto blob = [&](const std::array<double, 3>& x, const Index3&, int) {
      double r2 = 0;
      for (std::size_t a = 0; a < 3; ++a) {
        const double d = std::remainder(x[a] - middle[a], 12.0);
        r2 += d * d;
      }
      return std::exp(-r2 / 2);
    };
    const FakeDomain domain = periodic(fake_cube(12, 0, 12, {{"a", blob}}));
    const Table table = found(domain, "{variable: a, boundary: 0.1, halo: 0.4, connectivity: 6}",
                              even_division(domain.mesh().cells, {2, 2, 2}));
    REQUIRE(table.rows() == 1);
    compare(table, brute_force(Cells(domain, 6), 0.1, 0.4), domain);
    for (std::size_t a = 0; a < 3; ++a) {
      const double away = real(table, 0, std::string("mass_") + "xyz"[a]) - middle[a];
      CHECK(std::fabs(std::remainder(away, 12.0)) < 1e-12);
    }
  }
}

TEST_CASE("plateaus: the larger linear index is the peak") {
  const FakeDomain domain = fake_cube(6, 0, 1, {{"a", [](auto&, auto&, int) { return 4.0; }}});
  for (const Division& division : {Division{domain.mesh().cells}, even_division(domain.mesh().cells, {3, 2, 2})}) {
    const Table table = found(domain, "{variable: a, boundary: 1, halo: 1, units: mean}", division);  // >=, not >
    REQUIRE(table.rows() == 1);
    CHECK(whole(table, 0, "peak_index") == 215);
    CHECK(whole(table, 0, "cells") == 216);
  }
}

TEST_CASE("NaN belongs to nothing, not even to the mean") {
  const auto value = [](auto&, const Index3& p, int) { return p[0] == 2 ? not_a_number : p[0] == 3 ? 3.0 : 2.0; };
  const FakeDomain domain = fake_cube(5, 0, 1, {{"a", value}});
  for (const Division& division : {Division{domain.mesh().cells}, even_division(domain.mesh().cells, {5, 1, 1})}) {
    const Table table =
        found(domain, "{variable: a, boundary: 0.8, halo: 0.8, units: mean, connectivity: 26}", division);
    REQUIRE(table.rows() == 2);
    CHECK(whole(table, 0, "cells") == 50);
    CHECK(whole(table, 1, "cells") == 50);
    CHECK(whole(table, 1, "peak_i") == 3);
  }
  const FakeDomain none = fake_cube(3, 0, 1, {{"a", [](auto&, auto&, int) { return not_a_number; }}});
  CHECK(found(none, "{variable: a, boundary: 1, halo: 1, units: mean}", {none.mesh().cells}).rows() == 0);
}

TEST_CASE("an infinite cell is a peak, and its halo has no centroid") {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto value = [&](auto&, const Index3& p, int) {
    return p == Index3{1, 1, 1} ? infinity : p[0] == 3 ? 0.0 : 1.0;
  };
  const FakeDomain domain = fake_cube(4, 0, 1, {{"a", value}});
  const Table whole_mesh = found(domain, "{variable: a, boundary: 1, halo: 2}", {domain.mesh().cells});
  REQUIRE(whole_mesh.rows() == 1);
  CHECK(real(whole_mesh, 0, "mass") == infinity);
  CHECK(std::isnan(real(whole_mesh, 0, "mass_x")));
  CHECK(real(whole_mesh, 0, "centre_x") == 0.375);
  CHECK(same_bits(found(domain, "{variable: a, boundary: 1, halo: 2}", even_division(domain.mesh().cells, {2, 2, 2})),
                  whole_mesh));
}

TEST_CASE("nothing is found where nothing is") {
  const FakeDomain domain = noisy({5, 5, 5}, 3, 1);
  CHECK(found(domain, "{variable: a, boundary: 100, halo: 100}", {domain.mesh().cells}).rows() == 0);
  const Table absent = found(domain, "{variable: a, boundary: 1, halo: 2}", {domain.mesh().cells}, {.absent = {0}});
  CHECK(absent.rows() == 0);
  CHECK(absent.names().size() > 10);
  const auto results =
      run_alone(halos_kind(), "{variable: a, boundary: 100, halo: 100, mass_function: {image: {file: m.png}}}", domain,
                {domain.mesh().cells});
  CHECK(results.tables.at("mass-function-{index:05}.csv").rows() == 20);
  CHECK(results.charts.at("m.png").arguments.front() == "--size=1024x768");
}

TEST_CASE("a single cell, its own neighbour or not") {
  for (const bool around : {false, true}) {
    const FakeDomain domain =
        periodic(fake_cube(1, 0, 2, {{"a", [](auto&, auto&, int) { return 7.0; }}}), {around, around, around});
    const Table table = found(domain, "{variable: a, boundary: 7, halo: 7}", {domain.mesh().cells});
    REQUIRE(table.rows() == 1);
    CHECK(real(table, 0, "mass") == 56);
    CHECK(real(table, 0, "mass_y") == 1);
  }
}

TEST_CASE("the mass function counts the table's halos") {
  const FakeDomain domain = hashed(32);
  const auto results =
      run_alone(halos_kind(), "{variable: a, boundary: 4, halo: 4, units: mean, mass_function: {bins: 5}}", domain,
                even_division(domain.mesh().cells, {2, 2, 2}));
  const Table& halos = results.tables.at("halos-{index:05}.csv");
  const Table& function = results.tables.at("mass-function-{index:05}.csv");
  REQUIRE(function.rows() == 5);
  REQUIRE(halos.rows() > 5);
  CHECK(whole(function, 0, "above") == static_cast<Index>(halos.rows()));
  for (std::size_t b = 0; b < 5; ++b) {
    const double low = std::log10(real(function, b, "lower")), high = std::log10(real(function, b, "upper"));
    Index count = 0;
    for (std::size_t h = 0; h < halos.rows(); ++h) {
      const double mass = std::log10(real(halos, h, "mass"));
      count += mass >= low - 1e-12 && (b == 4 || mass < high - 1e-12);
    }
    CHECK(whole(function, b, "count") == count);
    CHECK(real(function, b, "dn_dlog10m") == doctest::Approx(static_cast<double>(count) / (8000 * (high - low))));
  }
}

TEST_CASE("what cannot be searched is refused") {
  const auto refused = [](const FakeDomain& domain, const std::string& yaml, const char* why) {
    CHECK_THROWS_WITH_AS(found(domain, yaml, {domain.mesh().cells}), doctest::Contains(why), Error);
  };
  const FakeDomain domain = noisy({4, 4, 4}, 3, 1);
  refused(domain, "{variable: a, boundary: 2, halo: 1}", "`halo` not below `boundary`");
  refused(domain, "{variable: a, boundary: 1, halo: 1, history: {tracks: 5}}", "found 'tracks' without `image`");
  FakeField at_nodes_of_it;
  at_nodes_of_it.centering = Centering::node;
  refused(noisy({4, 4, 4}, 3, 1, at_nodes_of_it), "{variable: a, boundary: 1, halo: 1}", "needs values in cells");
  FakeDomain levels = noisy({4, 4, 4}, 3, 1, at_nodes_of_it);
  levels.metadata.meshes[0].refinement = {{2, 2, 2}};
  refused(levels, "{variable: a, boundary: 1, halo: 1}", "needs values in cells");
  const FakeDomain uneven({{0, 0, 0}, {1, 1, 1}},
                          std::make_shared<RectilinearGeometry>(
                              Index3{0, 0, 0}, std::array<std::vector<double>, 3>{{{0, 1}, {0, 1}, {0, 1}}}),
                          {{"a", [](auto&, auto&, int) { return 1.0; }}});
  refused(uneven, "{variable: a, boundary: 1, halo: 1}", "needs a uniform mesh");
}
