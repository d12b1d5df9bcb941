// Power spectra, compared with reference tables, results by hand, and a Fourier transform by the definition. They have
// the same bits for every number of servers and way of dividing the transform.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include "cosmology/kinds.hpp"
#include "cosmology/spectra/pencils.hpp"
#include "cosmology/spectra/wave_bins.hpp"
#include "support/fake_pieces.hpp"
#include "support/hash_field.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;
using std::numbers::pi;

namespace {

/// A box with given numbers of cells and sides, and fields that depend on the indices.
FakeDomain box_of(const Index3& n, const std::array<double, 3>& sides, std::vector<FakeField> fields,
                  int dimensions = 3, const Index3& origin = {0, 0, 0}) {
  std::array<double, 3> spacing{1, 1, 1};
  for (std::size_t a = 0; a < 3; ++a) spacing[a] = sides[a] / static_cast<double>(n[a]);
  const Box cells{origin, {origin[0] + n[0], origin[1] + n[1], origin[2] + n[2]}};
  return FakeDomain(cells, std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, spacing), std::move(fields),
                    dimensions);
}

FakeField hashed(const std::vector<double>& field, Index n, Type type = Type::float64, Order order = Order::column) {
  return {"rho",
          [&field, n](auto&, const Index3& p, int) {
            return field[static_cast<std::size_t>((p[0] * n + p[1]) * n + p[2])];
          },
          Centering::cell,
          1,
          type,
          order};
}

/// White noise of a seed, which depends only on the indices.
double noise(const Index3& p, unsigned seed) {
  std::mt19937_64 random(static_cast<std::uint64_t>(((p[0] + 100) * 1000 + p[1] + 100) * 1000 + p[2] + 100) + seed);
  random.discard(3);
  return static_cast<double>(random() >> 11) * 0x1p-53;
}

FakeField noisy(const std::string& name, unsigned seed, Order order = Order::column) {
  return {name, [seed](auto&, const Index3& p, int) { return 1 + noise(p, seed); }, Centering::cell, 1, Type::float64,
          order};
}

Table alone(const FakeDomain& domain, const std::string& yaml, const PieceRun& how = {}) {
  return run_pieces_alone(power_spectrum_kind(), yaml, domain, how).tables.at("power_spectrum.csv");
}

void check_near(double found, double expected, double tolerance) {
  CHECK(std::fabs(found - expected) <= tolerance * std::fabs(expected));
}

/// The mean power of all modes in a bin of wave numbers, by the definition.
std::vector<double> by_definition(const FakeDomain& domain, const std::array<double, 3>& sides,
                                  const std::vector<double>& edges, std::size_t second, std::vector<double>& modes) {
  const Box& cells = domain.mesh().cells;
  const Index3 n{cells.extent(0), cells.extent(1), cells.extent(2)};
  const double count = static_cast<double>(cells.count());
  double volume = 1;
  for (int a = 0; a < domain.mesh().dimensions; ++a) volume *= sides[static_cast<std::size_t>(a)];
  std::array<double, 2> mean{};
  const auto each = [&](auto&& f) {
    for (Index k = 0; k < n[2]; ++k) {
      for (Index j = 0; j < n[1]; ++j) {
        for (Index i = 0; i < n[0]; ++i) f(Index3{i, j, k});
      }
    }
  };
  const auto value = [&](std::size_t f, const Index3& p) {
    return domain.value(f, {p[0] + cells.lo[0], p[1] + cells.lo[1], p[2] + cells.lo[2]}, 0);
  };
  each([&](const Index3& p) {
    mean[0] += value(0, p) / count;
    mean[1] += value(second, p) / count;
  });
  std::vector<double> power(edges.size() - 1, 0);
  modes.assign(edges.size() - 1, 0);
  each([&](const Index3& q) {
    double square = 0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double m = static_cast<double>(2 * q[a] <= n[a] ? q[a] : q[a] - n[a]);
      if (n[a] > 1) square += std::pow(2 * pi * m / sides[a], 2);
    }
    const double k = std::sqrt(square);
    const auto bin = std::upper_bound(edges.begin(), edges.end(), k) - edges.begin() - 1;
    if (bin < 0 || bin >= static_cast<Index>(power.size()) || k == 0) return;
    std::array<std::complex<double>, 2> x{};
    each([&](const Index3& p) {
      double phase = 0;
      for (std::size_t a = 0; a < 3; ++a) phase += static_cast<double>(p[a] * q[a] % n[a]) / static_cast<double>(n[a]);
      const std::complex<double> wave = std::polar(1.0, -2 * pi * phase);
      x[0] += (value(0, p) / mean[0] - 1) * wave;
      x[1] += (value(second, p) / mean[1] - 1) * wave;
    });
    power[static_cast<std::size_t>(bin)] += (x[0] * std::conj(x[1])).real() * volume / count / count;
    modes[static_cast<std::size_t>(bin)] += 1;
  });
  for (std::size_t b = 0; b < power.size(); ++b) power[b] /= modes[b];
  return power;
}

}  // namespace

TEST_CASE("sums by windows are exact") {
  std::mt19937_64 random(1);
  for (const int range : {0, 5, 40, 80, 300, 2000}) {
    spectra::WindowSum window;
    ExactSum sum, expected;
    for (int n = 0; n < 5000; ++n) {
      double x = static_cast<double>(random() >> 11) * 0x1p-53;
      x = std::ldexp(n % 3 == 0 ? -x : x,
                     range > 0 ? static_cast<int>(random() % static_cast<unsigned>(range)) - range / 2 : 0);
      if (n % 700 == 3) x = 0;
      if (n % 900 == 3) x = 5e-324;
      if (n % 1100 == 3) x = n % 2 == 0 ? 1.7e308 : -1.7e308;
      window.add(x, sum);
      expected.add(x);
      if (n % 1234 == 0) window.flush(sum);
    }
    window.flush(sum);
    CHECK(sum.serialise() == expected.serialise());
    window.add(std::numeric_limits<double>::infinity(), sum);
    window.add(1, sum);
    window.flush(sum);
    CHECK(sum.value() == std::numeric_limits<double>::infinity());
  }
}

TEST_CASE("the reference's spectra of a field of 64^3") {
  const std::vector<double> field = HashField(64).values();
  for (const Order order : {Order::column, Order::row}) {
    const FakeDomain domain = box_of({64, 64, 64}, {20, 20, 20}, {hashed(field, 64, Type::float64, order)});
    const auto widening = cosmology_table("ps3d_hash_64.csv");
    const Table table = alone(domain, "{variable: rho, bins: widening}");
    REQUIRE(table.rows() == widening.size());
    for (std::size_t r = 0; r < widening.size(); ++r) {
      check_near(column(table, "k_lower")[r], widening[r][0], 1e-14);
      CHECK(column(table, "modes")[r] == widening[r][1]);
      check_near(column(table, "k_weighted")[r], widening[r][2], 1e-10);
      check_near(column(table, "power")[r], widening[r][3], 1e-10);
    }
    const auto shells = cosmology_table("ps3d_shell_hash_64.csv");
    const Table other = alone(domain, "{variable: rho, decomposition: slabs}");
    REQUIRE(other.rows() == shells.size());
    for (std::size_t r = 0; r < shells.size(); ++r) {
      CHECK(column(other, "bin")[r] + 1 == shells[r][0]);
      CHECK(column(other, "modes")[r] == shells[r][1]);
      check_near(column(other, "k")[r], shells[r][2], 1e-10);
      check_near(column(other, "power")[r], shells[r][3], 1e-10);
      const double k = column(other, "k")[r];
      check_near(column(other, "dimensionless")[r], k * k * k * column(other, "power")[r] / (2 * pi * pi), 1e-14);
    }
    const Table lines = alone(domain, "{variable: rho, bins: widening, along: [x, y, z]}");
    std::size_t row = 0;
    for (const std::string axis : {"0", "1", "2"}) {
      for (const auto& expected : cosmology_table("ps1d_density_hash_64_dir" + axis + ".csv")) {
        check_near(column(lines, "k_lower")[row], expected[0], 1e-14);
        CHECK(column(lines, "modes")[row] == expected[1]);
        check_near(column(lines, "k_weighted")[row], expected[2], 1e-10);
        check_near(column(lines, "power")[row], expected[3], 1e-10);
        ++row;
      }
    }
    CHECK(row == lines.rows());
  }
}

TEST_CASE("a transform by its definition: unequal sides, odd numbers, one to three dimensions, two variables") {
  struct Case {
    Index3 n;
    std::array<double, 3> sides;
    int dimensions;
  };
  for (const Case& c : {Case{{6, 5, 4}, {1, 2.5, 0.7}, 3}, Case{{7, 3, 1}, {4, 3, 1}, 2}, Case{{9, 1, 1}, {2, 1, 1}, 1},
                        Case{{8, 1, 1}, {2, 1, 1}, 1}, Case{{1, 6, 5}, {1, 1, 2}, 3}, Case{{2, 2, 2}, {3, 3, 3}, 3}}) {
    const FakeDomain domain = box_of(c.n, c.sides, {noisy("a", 1), noisy("b", 2, Order::row)}, c.dimensions,
                                     {-3, 2, c.dimensions > 2 ? 5 : 0});
    const std::vector<double> edges{0.001, 4.1, 7.3, 13.7, 1000};
    std::vector<double> modes;
    const auto expected = by_definition(domain, c.sides, edges, 0, modes);
    const auto second = by_definition(domain, c.sides, edges, 1, modes);
    const Table table = alone(domain, "{variable: a, with: b, edges: [0.001, 4.1, 7.3, 13.7, 1000]}");
    for (std::size_t r = 0; r < expected.size(); ++r) {
      CHECK(column(table, "modes")[r] == modes[r]);
      if (modes[r] == 0) {
        CHECK(std::isnan(column(table, "power")[r]));
        continue;
      }
      check_near(column(table, "power")[r], expected[r], 1e-12);
      CHECK(std::fabs(column(table, "cross")[r] - second[r]) <= 1e-12 * expected[r]);
      CHECK(column(table, "correlation")[r] ==
            column(table, "cross")[r] / std::sqrt(column(table, "power")[r] * column(table, "second")[r]));
    }
    const Table swapped = alone(domain, "{variable: b, with: a, edges: [0.001, 4.1, 7.3, 13.7, 1000]}");
    CHECK(same_bits(column(swapped, "power"), column(table, "second")));
  }
}

TEST_CASE("a single wave, and Parseval's theorem") {
  const Index n = 16;
  const double side = 5, amplitude = 0.25;
  const FakeDomain wave = box_of(
      {n, n, n}, {side, side, side},
      {{"w", [&](auto&, const Index3& p, int) {
          return 3 * (1 + amplitude * std::cos(2 * pi * static_cast<double>(2 * p[0] + 3 * p[1] - 6 * p[2]) / n));
        }}});
  const Table table = alone(wave, "{variable: w}");
  // Two modes of the shell |n| = 7 have power, A^2 / 4 V each.
  for (std::size_t r = 0; r < table.rows(); ++r) {
    const double expected = r == 6 ? 2 * amplitude * amplitude / 4 * side * side * side / column(table, "modes")[r] : 0;
    CHECK(std::fabs(column(table, "power")[r] - expected) < 1e-13);
  }
  const FakeDomain random = box_of({n, 12, 10}, {side, 4, 3}, {noisy("a", 3)});
  double sum = 0, squares = 0, count = 0;
  for (Index k = 0; k < 10; ++k) {
    for (Index j = 0; j < 12; ++j) {
      for (Index i = 0; i < n; ++i) {
        const double v = random.value(0, {i, j, k}, 0);
        sum += v;
        squares += v * v;
        ++count;
      }
    }
  }
  const double variance = squares / count - sum / count * (sum / count);
  const Table all = alone(random, "{variable: a, of: difference, edges: [0.1, 1000]}");
  CHECK(column(all, "modes")[0] == count - 1);
  check_near(column(all, "power")[0] * (count - 1) / (side * 4 * 3), variance, 1e-12);
  // White noise has the same power everywhere: the variance divided by the density of points.
  const FakeDomain white = box_of({48, 48, 48}, {1, 1, 1}, {noisy("a", 9)});
  const Table flat = alone(white, "{variable: a, of: difference, edges: [10, 100, 150]}");
  for (const double power : column(flat, "power")) check_near(power, 1.0 / 12 / (48.0 * 48 * 48), 0.02);
}

TEST_CASE("a Gaussian blob has the transform that it should") {
  const Index n = 32;
  const double s = 0.06;
  const FakeDomain domain = box_of({n, n, n}, {1, 1, 1}, {{"g", [&](const std::array<double, 3>& x, auto&, int) {
                                                             double square = 0;
                                                             for (const double c : x) square += (c - 0.5) * (c - 0.5);
                                                             return std::exp(-square / (2 * s * s));
                                                           }}});
  const Table table = alone(domain, "{variable: g, of: difference, edges: [6, 6.5, 12, 13]}");
  // The first bin has only modes |n| = 1, the third only |n| = 2.
  for (const std::size_t r : {std::size_t{0}, std::size_t{2}}) {
    const double k = column(table, "k")[r], transform = std::pow(2 * pi * s * s, 1.5) * std::exp(-k * k * s * s / 2);
    check_near(column(table, "power")[r], transform * transform, 1e-9);
  }
}

TEST_CASE("windows are divided out, and shot noise taken off") {
  const Index n = 8;
  const FakeDomain domain = box_of({n, n, n}, {1, 1, 1}, {noisy("a", 4)});
  // The bin has only modes like (1, 0, 0), for which W = sin(pi / 8) / (pi / 8).
  const std::string edges = "edges: [6, 6.5]";
  const double plain = column(alone(domain, "{variable: a, " + edges + "}"), "power")[0];
  const double window = std::sin(pi / n) / (pi / n);
  int p = 0;
  for (const std::string name : {"ngp", "cic", "tsc"}) {
    const double power = column(alone(domain, "{variable: a, window: " + name + ", " + edges + "}"), "power")[0];
    check_near(power, plain / std::pow(window, 2 * ++p), 1e-13);
  }
  CHECK(column(alone(domain, "{variable: a, shot_noise: 1e-5, " + edges + "}"), "power")[0] == plain - 1e-5);
}

TEST_CASE("the same bits for every number of servers, decomposition and division of the work") {
  MpiCommunicator world(test_ranks());
  struct Case {
    Index3 n;
    int dimensions;
  };
  int tried = 0;
  // Cases with fewer planes and lines than servers, one cell, odd numbers.
  for (const Case& c : {Case{{24, 18, 20}, 3}, Case{{5, 7, 3}, 3}, Case{{2, 2, 2}, 3}, Case{{16, 9, 1}, 2},
                        Case{{33, 1, 1}, 1}, Case{{1, 1, 1}, 3}, Case{{4, 64, 1}, 3}}) {
    const FakeDomain domain = box_of(c.n, {1, 1.5, 2}, {noisy("a", 5), noisy("b", 6, Order::row)}, c.dimensions);
    for (const std::string yaml :
         {"{variable: a}", "{variable: b, decomposition: slabs}", "{variable: a, with: b, window: cic}",
          "{variable: b, along: x, bins: widening}", "{variable: b, with: a, along: x}"}) {
      const Table expected = alone(domain, yaml);
      ++tried;
      for (const int groups : {1, 3}) {
        if (!test_all() && (groups == 1) == (tried % 2 == 0)) continue;
        const auto results = run_pieces(power_spectrum_kind(), yaml, domain, world, {groups, {}});
        if (world.rank() == 0) CHECK(same_bits(results.tables.at("power_spectrum.csv"), expected));
      }
      std::string other = yaml;
      if (const auto at = other.find("decomposition: slabs"); at != std::string::npos)
        other.replace(at, 20, "bins: shells");
      if (other != yaml) CHECK(same_bits(alone(domain, other), expected));
    }
  }
}

TEST_CASE("very small contrasts, and numbers that are none") {
  const FakeDomain domain =
      box_of({16, 8, 8}, {1, 1, 1},
             {{"a", [](auto&, const Index3& p,
                       int) { return 1e6 * (1 + 1e-13 * std::cos(2 * pi * static_cast<double>(p[0]) / 16)); }},
              noisy("b", 7),
              {"c", [](auto&, const Index3& p, int) { return p[0] == 3 ? std::nan("") : 1.0; }},
              {"d", [](auto&, const Index3& p, int) { return p[0] % 2 == 0 ? 1.0 : -1.0; }}});
  const Table table = alone(domain, "{variable: a, edges: [6, 6.5]}");
  // The spacing of doubles of this size is 1.2e-10, a thousandth of the amplitude.
  check_near(column(table, "power")[0], 1e-26 / 4 / 3, 2e-2);
  for (const double power : column(alone(domain, "{variable: c}"), "power")) CHECK(std::isnan(power));
  CHECK_THROWS_WITH_AS(alone(domain, "{variable: d}"), doctest::Contains("the mean of 'd' is 0"), Error);
  CHECK(alone(domain, "{variable: d, of: difference}").rows() == 4);
}

TEST_CASE("values that were not published are missed") {
  const FakeDomain domain = box_of({8, 8, 8}, {1, 1, 1}, {noisy("a", 1)});
  for (const std::string yaml : {"{variable: a}", "{variable: a, along: y}"}) {
    CHECK_THROWS_WITH_AS(alone(domain, yaml, {1, {{1, 1, 1}, {3, 2, 2}}}),
                         doctest::Contains("2 of the 512 values that lines of 'a' consist of were not published"),
                         Error);
    const auto nothing = run_pieces_alone(power_spectrum_kind(), yaml, domain, {1, domain.mesh().cells});
    CHECK(nothing.tables.empty());
  }
}

TEST_CASE("impossible options are refused") {
  const FakeDomain domain =
      box_of({8, 8, 1}, {1, 1, 1}, {noisy("a", 1), {"n", [](auto&, auto&, int) { return 1.0; }, Centering::node}}, 2);
  const auto refused = [&](const std::string& yaml, const char* text) {
    CHECK_THROWS_WITH_AS(alone(domain, yaml), doctest::Contains(text), Error);
  };
  refused("{variable: n}", "needs values in cells");
  refused("{variable: a, along: z}", "found 'z' for mesh 'grid' of 2 dimensions");
  refused("{variable: a, along: [x, x]}", "'x' is named twice");
  refused("{variable: a, along: x, window: cic}", "found 'window' beside 'along'");
  refused("{variable: a, edges: [2, 1]}", "found 2 before 1");
  refused("{variable: a, edges: [1, 2], bins: shells}", "beside 'edges'");
  refused("{variable: a, with_component: 1}", "without 'with'");
  FakeDomain levels = domain;
  levels.metadata.meshes[0].refinement = {{2, 2, 1}};
  CHECK_THROWS_WITH_AS(alone(levels, "{variable: a}"),
                       doctest::Contains("name the `level` to which the mesh is resampled"), Error);
}

TEST_CASE("boxes of every step cover the array once, and each server exchanges with a row or a column") {
  Mesh mesh;
  mesh.cells = {{0, 0, 0}, {64, 48, 32}};
  for (const int servers : {1, 2, 3, 5, 8, 40, 1000, 5000}) {
    for (int first = 0; first < 3; ++first) {
      const spectra::AxisOrder order = spectra::order_from(first);
      Index3 extents;
      for (std::size_t a = 0; a < 3; ++a) extents[a] = mesh.cells.extent(order[a]);
      extents[0] = extents[0] / 2 + 1;
      const spectra::ServerGrid grid = spectra::grid_of(mesh, order, false, servers);
      const spectra::PencilLayout layout(extents, grid);
      for (int step = 0; step < 3; ++step) {
        Index points = 0;
        std::size_t most = 0;
        for (int s = 0; s < servers; ++s) {
          const Box box = layout.box(step, s);
          points += box.count();
          if (box.empty()) continue;
          if (step == 0) {
            const Box piece = piece_of(spectra::decomposition_of(mesh, order, false), mesh, servers, s);
            CHECK(box.lo[1] == piece.lo[static_cast<std::size_t>(order[1])]);
            CHECK(box.hi[2] == piece.hi[static_cast<std::size_t>(order[2])]);
          }
          const auto meeting = layout.meeting(step, box);
          CHECK(meeting == std::vector<int>{s});
          if (step < 2) most = std::max(most, layout.meeting(step + 1, box).size());
        }
        CHECK(points == extents[0] * extents[1] * extents[2]);
        if (step < 2) CHECK(static_cast<Index>(most) <= (step == 0 ? grid.second : grid.third));
      }
    }
  }
}
