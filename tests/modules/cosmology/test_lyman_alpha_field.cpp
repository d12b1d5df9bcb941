// Lyman-alpha flux of a whole field of 64^3 cells, compared with reference tables, on any number of servers. Tables are
// of the mean flux, its distribution, its spectra along lines and in space, and optical depths.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "cosmology/kinds.hpp"
#include "support/fake_pieces.hpp"
#include "support/grid_checks.hpp"
#include "support/igm_fields.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr Index cells = 64;
constexpr double pixels = cells * cells * cells;

std::size_t at(Index x, Index y, Index z) { return static_cast<std::size_t>((x * cells + y) * cells + z); }

const IgmFields& gas() {
  static const IgmFields fields = igm_fields(cells);
  return fields;
}

/// The box of 20 Mpc/h, as a simulation publishes it.
FakeDomain box(std::vector<FakeField> fields) { return fake_cube(cells, 0, 20, std::move(fields)); }
FakeDomain forest(Order order) {
  const auto scalar = [&](const char* name, const std::vector<double>& values) {
    return FakeField{name,
                     [&values](auto&, const Index3& p, int) { return values[at(p[0], p[1], p[2])]; },
                     Centering::cell,
                     1,
                     Type::float64,
                     order};
  };
  const auto velocity = [](auto&, const Index3& p, int c) {
    return gas().velocity[static_cast<std::size_t>(c)][at(p[0], p[1], p[2])];
  };
  return box({scalar("nhi", gas().hydrogen),
              scalar("t", gas().temperature),
              {"v", velocity, Centering::cell, 3, Type::float64, order}});
}

/// The configuration of a user. Gimlet's bins are `widening`, and its flux spectra are those of F / <F> - 1.
const std::string yaml =
    "{hydrogen: nhi, temperature: t, velocity: v, redshift: 3, omega_matter: 0.3, omega_lambda: 0.7, hubble: 0.7, "
    "bins: widening, flux_bins: 50, pdf_file: pdf.csv, spectrum_file: lines.csv, field_spectrum_file: field.csv, "
    "lines: {file: sight.h5}}";

void check_near(double found, double expected, double tolerance = 1e-10) {
  CHECK(std::fabs(found - expected) <= tolerance * std::fabs(expected));
}

double middle(std::vector<double> values) {
  const auto half = values.begin() + static_cast<Index>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return (*half + *std::max_element(values.begin(), half)) / 2;
}

/// Compares all rows of both tables: the lower edge, the number of modes, the mean wave number weighted by power, and
/// the power.
void check_spectrum(const Table& found, const std::string& reference) {
  const auto rows = cosmology_table(reference);
  REQUIRE(rows.size() == 22);
  REQUIRE(found.rows() >= rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    check_near(column(found, "k_lower")[r], rows[r][0], 1e-14);
    CHECK(column(found, "modes")[r] == rows[r][1]);
    check_near(column(found, "k_weighted")[r], rows[r][2]);
    check_near(column(found, "power")[r], rows[r][3]);
  }
}

void check_means(const CapturedResults& results) {
  const Table& means = results.tables.at("lyman_alpha.csv");
  // Three rows follow the exact definition, and three Gimlet's, which leaves out contributions beyond 4 b.
  const auto rows = cosmology_table("mean_flux_igm64.csv");
  REQUIRE(rows.size() == 6);
  for (const auto& row : rows) {
    const auto axis = static_cast<std::size_t>(row[1]);
    check_near(column(means, "mean_flux")[axis], row[2]);
    check_near(column(means, "mean_depth")[axis], row[3]);
    check_near(column(means, "effective_depth")[axis], -std::log(row[2]));
    check_near(middle(reals_of(results.data_sets.at("sight.h5"), std::string("depth_") + "xyz"[axis])), row[4]);
  }
}

void check_distribution(const CapturedResults& results) {
  const Table& pdf = results.tables.at("pdf.csv");
  const auto rows = cosmology_table("pdf_flux_igm64_dir0.csv");
  REQUIRE(rows.size() == 50);
  std::vector<double> sums(rows.size(), 0);
  for (const double flux : reals_of(results.data_sets.at("sight.h5"), "flux_x")) {
    sums[static_cast<std::size_t>(std::min(49.0, std::floor(flux * 50)))] += flux;
  }
  double counted = 0;
  for (std::size_t b = 0; b < rows.size(); ++b) {
    check_near(column(pdf, "lower")[b], rows[b][0], 1e-14);
    CHECK(column(pdf, "count")[b] == rows[b][1]);
    check_near(sums[b] / rows[b][1], rows[b][2]);
    check_near(column(pdf, "density")[b], rows[b][3]);
    counted += rows[b][1];
  }
  CHECK(counted == pixels);
}

void check_rays(const CapturedResults& results, std::size_t axis) {
  const std::string name(1, "xyz"[axis]);
  const auto depths = reals_of(results.data_sets.at("sight.h5"), "depth_" + name);
  const auto fluxes = reals_of(results.data_sets.at("sight.h5"), "flux_" + name);
  for (const auto& row : cosmology_table("tau_rays_igm64_dir" + std::to_string(axis) + ".csv")) {
    const auto pixel = static_cast<std::size_t>((row[1] * cells + row[0]) * cells + row[2]);
    // Differences of erf lose digits below 1e-16 of the line's greatest depth.
    CHECK(std::fabs(depths[pixel] - row[7]) <= 1e-10 * row[7] + 1e-13);
    check_near(fluxes[pixel], row[8]);
  }
}

}  // namespace

TEST_CASE("the fields are those that the reference's lines of sight go through") {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto rows = cosmology_table("tau_rays_igm64_dir" + std::to_string(axis) + ".csv");
    REQUIRE(rows.size() == 256);
    for (const auto& row : rows) {
      Index3 p{static_cast<Index>(row[0]), static_cast<Index>(row[0]), static_cast<Index>(row[1])};
      if (axis == 2) p[1] = static_cast<Index>(row[1]);
      p[axis] = static_cast<Index>(row[2]);
      const std::size_t cell = at(p[0], p[1], p[2]);
      check_near(gas().over_mean[cell], row[3], 1e-14);
      check_near(gas().temperature[cell], row[4], 1e-14);
      check_near(gas().velocity[axis][cell], row[5], 1e-10);
      check_near(gas().hydrogen[cell], row[6], 1e-14);
    }
  }
}

TEST_CASE("the reference's mean flux, distribution, spectra and lines of sight") {
  MpiCommunicator world(test_ranks());
  for (const int groups : {1, 2}) {
    const auto results =
        run_pieces(lyman_alpha_kind(), yaml, forest(groups == 1 ? Order::row : Order::column), world, {groups, {}});
    if (world.rank() != 0) continue;
    check_means(results);
    check_distribution(results);
    check_spectrum(results.tables.at("lines.csv"), "ps1d_flux_igm64_dir0.csv");
    check_spectrum(results.tables.at("field.csv"), "ps3d_flux_igm64_dir0.csv");
    for (std::size_t axis = 0; axis < 3; ++axis) check_rays(results, axis);
  }
}

TEST_CASE("fluxes that are published give the reference's spectra too") {
  const std::string only =
      "{hydrogen: nhi, temperature: t, velocity: v, redshift: 3, along: x, lines: {file: sight.h5, values: flux}}";
  const auto fluxes =
      reals_of(run_pieces_alone(lyman_alpha_kind(), only, forest(Order::row)).data_sets.at("sight.h5"), "flux_x");
  // Lines along x are indexed by z and y.
  const FakeDomain domain = box({{"flux", [&](auto&, const Index3& p, int) { return fluxes[at(p[2], p[1], p[0])]; }}});
  MpiCommunicator world(test_ranks());
  for (const auto& [more, reference] :
       {std::pair{"", "ps3d_flux_igm64_dir0.csv"}, {", along: x", "ps1d_flux_igm64_dir0.csv"}}) {
    const auto results =
        run_pieces(power_spectrum_kind(), std::string("{variable: flux, bins: widening") + more + "}", domain, world);
    if (world.rank() == 0) check_spectrum(results.tables.at("power_spectrum.csv"), reference);
  }
}
