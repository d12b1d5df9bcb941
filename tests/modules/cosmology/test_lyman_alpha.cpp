// Lyman-alpha spectra, compared with reference lines of sight and with the definition by the C library's erf. Some
// properties must hold exactly.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "cosmology/kinds.hpp"
#include "cosmology/spectra/lyman_alpha/optical_depth.hpp"
#include "support/fake_pieces.hpp"
#include "support/grid_checks.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;
using lyman_alpha::Cosmology;
using lyman_alpha::OpticalDepth;

namespace {

constexpr Cosmology reference{3, 0.3, 0.7, 0.7};

struct Line {
  std::vector<double> density, temperature, velocity, depth;
};

/// The optical depth by the definition, with erf, and with all periodic images that contribute.
std::vector<double> by_definition(const Line& line, double length, const Cosmology& c) {
  const auto n = static_cast<Index>(line.density.size());
  const double period = c.velocity(length), dv = period / static_cast<double>(n);
  std::vector<double> depth(line.density.size(), 0);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double b = std::sqrt(2 * 1.38064e-16 * line.temperature[at] / 1.672623e-24);
      const double a = c.mean_depth(line.density[at]) / 2;
      const double apart = (static_cast<double>(j - i) + 0.5) * dv - line.velocity[at];
      const double nearest = apart - period * std::round(apart / period);
      const int images = static_cast<int>(std::ceil(8 * b / period)) + 1;
      for (int m = -images; m <= images; ++m) {
        const double x = nearest + m * period;
        depth[static_cast<std::size_t>(j)] += a * (std::erf(x / b) - std::erf((x - dv) / b));
      }
    }
  }
  return depth;
}

std::vector<double> computed(const Line& line, double length, const Cosmology& c) {
  OpticalDepth depth(static_cast<Index>(line.density.size()), length, c);
  std::vector<double> out(line.density.size());
  depth.run(line.density.data(), line.temperature.data(), line.velocity.data(), out.data());
  return out;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

/// Compares depths. Differences of erf lose digits below 1e-16 of the greatest depth.
void check_lines(const std::vector<double>& found, const std::vector<double>& expected) {
  const double most = *std::max_element(expected.begin(), expected.end());
  for (std::size_t n = 0; n < found.size(); ++n) {
    CHECK(std::fabs(found[n] - expected[n]) <= 1e-10 * expected[n] + 1e-15 * most);
  }
}

double noise(const Index3& p, unsigned seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>((p[0] * 1000 + p[1]) * 1000 + p[2]) + 77 * seed);
  random.discard(3);
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

FakeDomain forest(const Index3& n) {
  std::vector<FakeField> fields{
      {"nhi", [](auto&, const Index3& p, int) { return 1e-11 * std::exp(4 * noise(p, 1)); }},
      {"t", [](auto&, const Index3& p, int) { return 5e3 + 3e4 * noise(p, 2); }, Centering::cell, 1, Type::float32},
      {"v", [](auto&, const Index3& p, int c) { return 6e7 * (noise(p, 3 + static_cast<unsigned>(c)) - 0.5); },
       Centering::cell, 3, Type::float64, Order::row}};
  return FakeDomain({{0, 0, 0}, n},
                    std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{0.25, 0.3, 0.35}),
                    std::move(fields));
}

const std::string common = "hydrogen: nhi, temperature: t, velocity: v, redshift: 3";
const std::string files = ", pdf_file: pdf.csv, spectrum_file: lines.csv, field_spectrum_file: field.csv";

}  // namespace

TEST_CASE("rows of erfc and exp against the C library's") {
  double worst_step = 0, worst_exp = 0;
  constexpr Index lanes = lyman_alpha::lanes;
  for (const double widest : {0.02, 0.3, 1.0, 2.0, 5.0, 40.0}) {
    const auto reach = static_cast<Index>(std::ceil(6 * widest + 0.5));
    std::vector<double> at, scale, strength(lanes, 3), out(static_cast<std::size_t>((2 * reach + 2) * lanes));
    for (unsigned l = 0; l < lanes; ++l) {
      at.push_back(l == 0 ? 0 : l == 1 ? 0.5 : noise({l, 0, 0}, 1));
      scale.push_back((1 + noise({l, 0, 0}, 2)) / widest);
    }
    lyman_alpha::erf_steps(reach, at.data(), scale.data(), strength.data(), out.data());
    for (Index e = -reach; e <= reach + 1; ++e) {
      for (std::size_t l = 0; l < static_cast<std::size_t>(lanes); ++l) {
        const long double low = (static_cast<double>(e) - 0.5L - at[l]) * scale[l], high = low + scale[l];
        // Steps beyond the ends are added to the last pixels, so they are not compared.
        if (low < -6 || high > 6 || e == -reach || e == reach + 1) continue;
        const long double exact = low > 0    ? std::erfc(low) - std::erfc(high)
                                  : high < 0 ? std::erfc(-high) - std::erfc(-low)
                                             : std::erf(high) - std::erf(low);
        const double found = out[static_cast<std::size_t>((e + reach) * lanes) + l];
        // Differences over narrow steps have lost digits.
        const bool beside = low > 0 || high < 0;
        const double size = beside ? static_cast<double>(std::erfc(std::min(std::fabs(low), std::fabs(high)))) : 1;
        worst_step = std::max(worst_step, static_cast<double>(std::fabs(found - 3 * exact)) / (3 * size));
      }
    }
  }
  CHECK(worst_step < 3e-14);
  for (double y = 0; y < 699; y += 0.013) {
    double value = 0;
    lyman_alpha::transmit(&y, 1, 1, &value);
    worst_exp = std::max(worst_exp, std::fabs(value / std::exp(-y) - 1));
  }
  CHECK(worst_exp < 1e-15);
  const double ends[] = {0, 1e300, std::numeric_limits<double>::infinity(), 701};
  double values[4];
  lyman_alpha::transmit(ends, 1, 4, values);
  CHECK(values[0] == 1);
  for (int n = 1; n < 4; ++n) CHECK(values[n] == 0);
  const double none = std::nan("");
  lyman_alpha::transmit(&none, 1, 1, values);
  CHECK(std::isnan(values[0]));
}

TEST_CASE("the reference's lines of sight") {
  for (const std::string axis : {"0", "1", "2"}) {
    const auto rows = cosmology_table("tau_rays_igm64_dir" + axis + ".csv");
    REQUIRE(rows.size() == 256);
    for (std::size_t ray = 0; ray < 4; ++ray) {
      Line line;
      for (std::size_t n = 64 * ray; n < 64 * (ray + 1); ++n) {
        line.temperature.push_back(rows[n][4]);
        line.velocity.push_back(rows[n][5]);
        line.density.push_back(rows[n][6]);
        line.depth.push_back(rows[n][7]);
      }
      const auto depth = computed(line, 20, reference);
      check_lines(depth, line.depth);
      CHECK(std::fabs(mean(depth) / reference.mean_depth(mean(line.density)) - 1) < 1e-12);
      for (std::size_t n = 0; n < 64; ++n) CHECK(std::fabs(std::exp(-depth[n]) - rows[64 * ray + n][8]) < 1e-13);
    }
  }
}

TEST_CASE("the definition: cold and hot gas, fast and slow, long and short lines") {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (const Index n : {1, 2, 3, 16, 17, 100}) {
    for (const double hot : {10.0, 1e4, 1e6, 1e8, 1e9}) {
      for (const double fast : {0.0, 1e7, 1e10}) {
        Line line;
        for (Index i = 0; i < n; ++i) {
          line.density.push_back(1e-11 * std::exp(6 * uniform(random)));
          line.temperature.push_back(hot * (0.1 + uniform(random)));
          line.velocity.push_back(fast * (uniform(random) - 0.5));
        }
        const auto depth = computed(line, 5, reference), expected = by_definition(line, 5, reference);
        const double most = *std::max_element(expected.begin(), expected.end());
        // Positions of fast cells are known to 1e-16 of their velocity, in widths of the line.
        const double place = 1e-15 * fast / std::sqrt(1.65e7 * hot);
        for (std::size_t j = 0; j < depth.size(); ++j) {
          CHECK(std::fabs(depth[j] - expected[j]) <= 1e-10 * expected[j] + (1e-14 + 10 * place) * most);
        }
        CHECK(std::fabs(mean(depth) / reference.mean_depth(mean(line.density)) - 1) < 1e-12);
      }
    }
  }
}

TEST_CASE("no gas, no temperature, numbers that are none") {
  Line line{{0, 1e-11, 0, 0}, {0, 0, 1e4, 1e4}, {0, 0, 0, 0}, {}};
  auto depth = computed(line, 1, reference);
  // A line without width lies within one pixel.
  CHECK(std::fabs(mean(depth) / reference.mean_depth(mean(line.density)) - 1) < 1e-12);
  CHECK(std::count(depth.begin(), depth.end(), 0.0) == 3);
  for (int field = 0; field < 3; ++field) {
    Line bad = line;
    (field == 0 ? bad.density : field == 1 ? bad.temperature : bad.velocity)[1] = std::nan("");
    for (const double d : computed(bad, 1, reference)) CHECK(std::isnan(d));
  }
  line.temperature[2] = -1;
  for (const double d : computed(line, 1, reference)) CHECK(std::isnan(d));
  // A cell that is extremely hot gives the same depth everywhere.
  line = {{0, 0, 1e-11, 0}, {1e4, 1e4, 1e300, 1e4}, {0, 0, 0, 0}, {}};
  for (const double d : computed(line, 1, reference)) CHECK(std::fabs(d / reference.mean_depth(0.25e-11) - 1) < 1e-14);
}

TEST_CASE("tables of a field against its lines one by one") {
  const Index3 n{12, 7, 5};
  const FakeDomain domain = forest(n);
  const auto results = run_pieces_alone(lyman_alpha_kind(), "{" + common + files + ", flux_bins: 10}", domain);
  const Table& means = results.tables.at("lyman_alpha.csv");
  REQUIRE(means.rows() == 3);
  const std::array<double, 3> spacing{0.25, 0.3, 0.35};
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = static_cast<std::size_t>(axis);
    const int one = axis == 0 ? 1 : 0, two = axis == 2 ? 1 : 2;
    double depth_sum = 0, flux_sum = 0, density = 0, count = 0;
    std::vector<std::int64_t> counts(10, 0);
    std::vector<std::vector<double>> fluxes;
    const double length = spacing[a] * static_cast<double>(n[a]);
    for (Index u = 0; u < n[static_cast<std::size_t>(one)]; ++u) {
      for (Index w = 0; w < n[static_cast<std::size_t>(two)]; ++w) {
        Line line;
        for (Index i = 0; i < n[a]; ++i) {
          Index3 p{};
          p[a] = i;
          p[static_cast<std::size_t>(one)] = u;
          p[static_cast<std::size_t>(two)] = w;
          line.density.push_back(domain.value(0, p, 0));
          line.temperature.push_back(static_cast<float>(domain.value(1, p, 0)));
          line.velocity.push_back(domain.value(2, p, axis));
          density += line.density.back();
        }
        std::vector<double>& flux = fluxes.emplace_back();
        for (const double tau : by_definition(line, length, reference)) {
          flux.push_back(std::exp(-tau));
          depth_sum += tau;
          flux_sum += flux.back();
          ++counts[static_cast<std::size_t>(std::min(9.0, std::floor(flux.back() * 10)))];
          ++count;
        }
      }
    }
    CHECK(std::get<std::string>(means.at(a, 0)) == std::string(1, "xyz"[axis]));
    CHECK(std::fabs(column(means, "mean_depth")[a] / (depth_sum / count) - 1) < 1e-12);
    CHECK(std::fabs(column(means, "mean_depth")[a] / reference.mean_depth(density / count) - 1) < 1e-12);
    CHECK(std::fabs(column(means, "mean_flux")[a] - flux_sum / count) < 1e-12);
    CHECK(std::fabs(column(means, "effective_depth")[a] + std::log(flux_sum / count)) < 1e-12);
    CHECK(column(means, "factor")[a] == 1);
    const Table& pdf = results.tables.at("pdf.csv");
    for (std::size_t b = 0; b < 10; ++b) {
      CHECK(column(pdf, "count")[10 * a + b] == static_cast<double>(counts[b]));
      CHECK(std::fabs(column(pdf, "density")[10 * a + b] - static_cast<double>(counts[b]) / count * 10) < 1e-12);
    }
    // The power of the first mode, by hand.
    double power = 0;
    for (const auto& flux : fluxes) {
      std::complex<double> x = 0;
      for (std::size_t i = 0; i < flux.size(); ++i) {
        x += flux[i] / (flux_sum / count) *
             std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(flux.size()));
      }
      power += std::norm(x) * length / static_cast<double>(n[a] * n[a]) / static_cast<double>(fluxes.size());
    }
    const Table& lines = results.tables.at("lines.csv");
    std::size_t row = 0;
    while (std::get<std::string>(lines.at(row, 0)) != std::string(1, "xyz"[axis])) ++row;
    CHECK(std::fabs(column(lines, "power")[row] / power - 1) < 1e-10);
    // One comoving Mpc/h at redshift 3 recedes with 100 E(3) / 4 km/s.
    const double speed = 100 * std::sqrt(0.3 * 64 + 0.7) / 4;
    CHECK(std::fabs(column(lines, "k_velocity")[row] * speed / column(lines, "k")[row] - 1) < 1e-12);
  }
}

TEST_CASE("lines of sight are written, all or every third") {
  const Index3 n{12, 7, 5};
  const FakeDomain domain = forest(n);
  const std::array<double, 3> spacing{0.25, 0.3, 0.35};
  for (const Index every : {1, 3, 20}) {
    const std::string yaml =
        "{" + common + ", mean_flux: 0.5, lines: {file: l.h5, every: " + std::to_string(every) + "}}";
    const auto results = run_pieces_alone(lyman_alpha_kind(), yaml, domain);
    const DataSet& data = results.data_sets.at("l.h5");
    const Table& means = results.tables.at("lyman_alpha.csv");
    for (std::size_t a = 0; a < 3; ++a) {
      const std::string axis(1, "xyz"[a]);
      const std::size_t fast = a == 0 ? 1 : 0, slow = a == 2 ? 1 : 2;
      const std::string names[] = {axis + "_line_" + "xyz"[slow], axis + "_line_" + "xyz"[fast], axis + "_velocity"};
      const auto depths = reals_of(data, "depth_" + axis), fluxes = reals_of(data, "flux_" + axis);
      const auto at_slow = reals_of(data, names[0]), at_fast = reals_of(data, names[1]),
                 velocity = reals_of(data, names[2]);
      CHECK(array_of(data, "depth_" + axis).axes == std::vector<std::string>(names, names + 3));
      CHECK(at_slow.size() == static_cast<std::size_t>((n[slow] + every - 1) / every));
      CHECK(at_fast.size() == static_cast<std::size_t>((n[fast] + every - 1) / every));
      REQUIRE(depths.size() == at_slow.size() * at_fast.size() * static_cast<std::size_t>(n[a]));
      const double length = spacing[a] * static_cast<double>(n[a]);
      for (std::size_t row = 0; row < at_slow.size(); ++row) {
        for (std::size_t line = 0; line < at_fast.size(); ++line) {
          Line sight;
          Index3 p{};
          p[slow] = static_cast<Index>(row) * every;
          p[fast] = static_cast<Index>(line) * every;
          CHECK(at_slow[row] == doctest::Approx((static_cast<double>(p[slow]) + 0.5) * spacing[slow]));
          CHECK(at_fast[line] == doctest::Approx((static_cast<double>(p[fast]) + 0.5) * spacing[fast]));
          for (p[a] = 0; p[a] < n[a]; ++p[a]) {
            sight.density.push_back(domain.value(0, p, 0));
            sight.temperature.push_back(static_cast<float>(domain.value(1, p, 0)));
            sight.velocity.push_back(domain.value(2, p, static_cast<int>(a)));
          }
          const auto expected = by_definition(sight, length, reference);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::size_t pixel = (row * at_fast.size() + line) * expected.size() + i;
            CHECK(depths[pixel] == doctest::Approx(column(means, "factor")[a] * expected[i]).epsilon(1e-10));
            CHECK(fluxes[pixel] == doctest::Approx(std::exp(-depths[pixel])).epsilon(1e-13));
            CHECK(velocity[i] == doctest::Approx((static_cast<double>(i) + 0.5) * reference.velocity(length) * 1e-5 /
                                                 static_cast<double>(n[a])));
          }
        }
      }
    }
  }
}

TEST_CASE("a line that has a number that is none has no flux") {
  const Index3 n{4, 3, 2};
  FakeDomain domain(
      {{0, 0, 0}, n}, std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0}),
      {{"nhi", [](auto&, const Index3& p, int) { return p[0] + p[1] + p[2] == 0 ? std::nan("") : 1e-11; }},
       {"t", [](auto&, const Index3&, int) { return 1e4; }}});
  const auto results = run_pieces_alone(
      lyman_alpha_kind(), "{hydrogen: nhi, temperature: t, redshift: 3, along: x, lines: {file: l.h5}}", domain);
  const auto flux = reals_of(results.data_sets.at("l.h5"), "flux_x");
  for (std::size_t i = 0; i < flux.size(); ++i) CHECK(std::isnan(flux[i]) == (i < 4));
  CHECK(std::isnan(column(results.tables.at("lyman_alpha.csv"), "mean_flux")[0]));
}

TEST_CASE("a line with NaN does not count as opaque") {
  const FakeDomain whole = forest({12, 7, 5});
  std::vector<FakeField> fields{
      {"nhi", [&](auto&, const Index3& p, int) { return whole.value(0, p, 0); }},
      {"t",
       [&](auto&, const Index3& p, int) {
         return p == Index3{3, 4, 2} ? std::nan("") : whole.value(1, p, 0);
       }},
      {"v", [&](auto&, const Index3& p, int c) { return whole.value(2, p, c); }, Centering::cell, 3}};
  const FakeDomain domain(whole.mesh().cells,
                          std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{0.25, 0.3, 0.35}),
                          std::move(fields));
  for (const std::string more : {"", ", mean_flux: 0.6"}) {
    const auto results =
        run_pieces_alone(lyman_alpha_kind(), "{" + common + files + ", flux_bins: 10" + more + "}", domain);
    for (const char* name : {"mean_depth", "mean_flux", "effective_depth"}) {
      for (const double value : column(results.tables.at("lyman_alpha.csv"), name)) CHECK(std::isnan(value));
    }
    double counted = 0;
    for (const double count : column(results.tables.at("pdf.csv"), "count")) counted += count;
    CHECK(counted == 3 * 12 * 7 * 5 - 12 - 7 - 5);
    for (const double power : column(results.tables.at("lines.csv"), "power")) CHECK(std::isnan(power));
    for (const double power : column(results.tables.at("field.csv"), "power")) CHECK(std::isnan(power));
  }
}

TEST_CASE("optical depths are scaled to a mean flux") {
  const FakeDomain domain = forest({24, 3, 4});
  for (const double wanted : {0.05, 0.36, 0.7, 0.99}) {
    const std::string yaml = "{" + common + files + ", mean_flux: " + std::to_string(wanted) + "}";
    const auto results = run_pieces_alone(lyman_alpha_kind(), yaml, domain);
    const Table& means = results.tables.at("lyman_alpha.csv");
    const auto plain = run_pieces_alone(lyman_alpha_kind(), "{" + common + "}", domain).tables.at("lyman_alpha.csv");
    for (std::size_t a = 0; a < 3; ++a) {
      CHECK(std::fabs(column(means, "mean_flux")[a] / wanted - 1) < 1e-11);
      CHECK(std::fabs(column(means, "mean_depth")[a] / column(means, "factor")[a] / column(plain, "mean_depth")[a] -
                      1) < 1e-12);
      CHECK((column(means, "factor")[a] > 1) == (column(plain, "mean_flux")[a] > wanted));
    }
  }
}

TEST_CASE("the same bits for every number of servers and division of the work") {
  MpiCommunicator world(test_ranks());
  for (const Index3& n : {Index3{20, 9, 11}, Index3{3, 2, 1}, Index3{5, 1, 1}, Index3{1, 1, 1}, Index3{2, 2, 64}}) {
    const FakeDomain domain = forest(n);
    for (const std::string more : {", lines: {file: sight.h5, every: 2}", ", mean_flux: 0.6, along: y"}) {
      const std::string yaml = "{" + common + files + more + "}";
      const auto expected = run_pieces_alone(lyman_alpha_kind(), yaml, domain);
      for (const int groups : {1, 2}) {
        const auto results = run_pieces(lyman_alpha_kind(), yaml, domain, world, {groups, {}});
        if (world.rank() != 0) continue;
        for (const char* name : {"lyman_alpha.csv", "pdf.csv", "lines.csv", "field.csv"}) {
          CHECK(same_bits(results.tables.at(name), expected.tables.at(name)));
        }
        REQUIRE(results.data_sets.size() == expected.data_sets.size());
        for (const auto& [name, data] : expected.data_sets) CHECK(same_bits(results.data_sets.at(name), data));
      }
    }
  }
}

TEST_CASE("the redshift comes from the time; missing options are named") {
  const FakeDomain domain = forest({8, 8, 8});
  CHECK_THROWS_WITH_AS(run_pieces_alone(lyman_alpha_kind(), "{" + common + "}", domain, {1, {{0, 0, 0}, {1, 1, 2}}}),
                       doctest::Contains("6 of the 1536 values that lines of sight consist of were not published"),
                       Error);
  CHECK(run_pieces_alone(lyman_alpha_kind(), "{" + common + "}", domain, {1, domain.mesh().cells}).tables.empty());
  const auto refused = [&](const std::string& yaml, const char* text) {
    CHECK_THROWS_WITH_AS(run_pieces_alone(lyman_alpha_kind(), yaml, domain), doctest::Contains(text), Error);
  };
  refused("{hydrogen: nhi, temperature: t}", "expected either `redshift` or `time_is`");
  refused("{hydrogen: nhi, temperature: t, time_is: scale_factor}",
          "an iteration's time is 0, expected a scale factor above 0");
  refused("{hydrogen: nhi, temperature: t, velocity: t, redshift: 2}", "'t' has 1 component for lines along 3 axes");
  refused("{hydrogen: v, temperature: t, redshift: 2}", "'v' has 3 components, expected one");
  refused("{" + common + ", omega_matter: 0, omega_lambda: 0}", "found neither matter nor dark energy");
  refused("{" + common + ", bins: shells}", "found 'bins' without a spectrum");
  refused("{" + common + ", flux_bins: 5}", "found 'flux_bins' without `pdf_file`");
  refused("{hydrogen: nhi, temperature: t, redshift: 2, velocity_unit: 1e5}",
          "found 'velocity_unit' without `velocity`");
  const auto still = run_pieces_alone(lyman_alpha_kind(), "{hydrogen: nhi, temperature: t, time_is: redshift}", domain);
  CHECK(still.tables.at("lyman_alpha.csv").rows() == 3);
}
