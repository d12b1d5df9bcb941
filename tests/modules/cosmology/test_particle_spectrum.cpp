// Spectra of particles, compared with the deposit and a Fourier transform by the definition; the same bits for every
// division.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <random>

#include "cosmology/kinds.hpp"
#include "support/grid_checks.hpp"
#include "support/list_blocks.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;
using std::numbers::pi;

namespace {

/// Particles dealt out to blocks, with flagged copies of some. The last block has nothing.
struct Swarm {
  ListDomain domain;
  std::vector<ListBlock> blocks;
  std::vector<double> weights;

  Swarm(std::size_t count, std::size_t parts, int dimensions, Type type = Type::float64)
      : domain(MeshKind::points, dimensions) {
    domain.add("pos", Type::float64, dimensions, Centering::node, Role::coordinates);
    domain.add("flags", Type::uint8, 1, Centering::node, Role::point_ghosts);
    domain.add("w", type, 1, Centering::node);
    std::mt19937 random(11), dealer(static_cast<unsigned>(parts));
    std::uniform_real_distribution<double> place(-0.3, 1.9);
    std::vector<std::vector<double>> pos(parts), w(parts);
    std::vector<std::vector<std::uint8_t>> flags(parts);
    for (std::size_t n = 0; n < count; ++n) {
      std::array<double, 3> x{place(random), 3 * place(random), 2 * place(random)};
      if (n % 31 == 0) x[0] = 0;
      weights.push_back(static_cast<float>(1e-13 + std::exp(3 * place(random))));
      const std::size_t part = dealer() % parts;
      for (const bool ghost : {true, false}) {
        if (ghost && n % 5 != 0) continue;
        const std::size_t in = ghost ? (part + 1) % parts : part;
        pos[in].insert(pos[in].end(), x.begin(), x.begin() + dimensions);
        w[in].push_back(ghost ? 1e30 : weights.back());
        flags[in].push_back(ghost ? 1 : 0);
      }
    }
    for (std::size_t part = 0; part <= parts; ++part) {
      const bool empty = part == parts;
      const auto points = empty ? 0 : static_cast<Index>(flags[part].size());
      blocks.push_back({points, points, 0, {}});
      blocks.back().values = {{"pos", empty ? std::vector<double>() : pos[part]},
                              {"flags", empty ? std::vector<std::uint8_t>() : flags[part]}};
      const std::vector<double> mine = empty ? std::vector<double>() : w[part];
      if (type == Type::float32) {
        blocks.back().values["w"] = std::vector<float>(mine.begin(), mine.end());
      } else {
        blocks.back().values["w"] = mine;
      }
    }
  }
};

struct Grid {
  Index3 size{1, 1, 1};
  std::array<double, 3> sides{1, 1, 1};
  std::string yaml;
};

const std::array<Grid, 4> grids{Grid{{9, 1, 1}, {1, 1, 1}, "size: 9, low: 0, high: 1"},
                                Grid{{6, 7, 1}, {1, 3, 1}, "size: [6, 7], low: [0, 0], high: [1, 3]"},
                                Grid{{6, 5, 8}, {1, 3, 2}, "size: [6, 5, 8], low: [0, 0, 0], high: [1, 3, 2]"},
                                Grid{{1, 4, 3}, {1, 3, 2}, "size: [1, 4, 3], low: [0, 0, 0], high: [1, 3, 2]"}};

/// Mean power in each bin, of values with x fastest, divided by the window of order `window`.
std::vector<double> by_definition(const std::vector<double>& values, const Grid& grid, int window,
                                  const std::vector<double>& edges) {
  const Index3& n = grid.size;
  double mean = 0, volume = 1;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (std::size_t a = 0; a < 3; ++a) volume *= n[a] > 1 ? grid.sides[a] : 1;
  std::vector<double> power(edges.size() - 1, 0), modes(power);
  for (std::size_t q = 0; q < values.size(); ++q) {
    const auto at = static_cast<Index>(q);
    const Index3 mode{at % n[0], at / n[0] % n[1], at / n[0] / n[1]};
    double square = 0, divisor = 1;
    for (std::size_t a = 0; a < 3; ++a) {
      const double m = static_cast<double>(2 * mode[a] <= n[a] ? mode[a] : mode[a] - n[a]);
      square += n[a] > 1 ? std::pow(2 * pi * m / grid.sides[a], 2) : 0;
      const double x = pi * m / static_cast<double>(n[a]);
      if (m != 0) divisor *= std::pow(std::sin(x) / x, 2 * window);
    }
    std::complex<double> sum;
    for (std::size_t p = 0; p < values.size(); ++p) {
      const auto cell = static_cast<Index>(p);
      const Index3 place{cell % n[0], cell / n[0] % n[1], cell / n[0] / n[1]};
      double phase = 0;
      for (std::size_t a = 0; a < 3; ++a) phase += static_cast<double>(place[a] * mode[a]) / static_cast<double>(n[a]);
      sum += (values[p] / mean - 1) * std::polar(1.0, -2 * pi * phase);
    }
    const double k = std::sqrt(square);
    const auto bin = std::upper_bound(edges.begin(), edges.end(), k) - edges.begin() - 1;
    if (bin < 0 || bin >= static_cast<Index>(power.size()) || k == 0) continue;
    const auto cells = static_cast<double>(values.size());
    power[static_cast<std::size_t>(bin)] += std::norm(sum) / divisor * volume / cells / cells;
    modes[static_cast<std::size_t>(bin)] += 1;
  }
  for (std::size_t b = 0; b < power.size(); ++b) power[b] /= modes[b];
  return power;
}

const std::vector<double>& reals(const Table& table, const std::string& name) {
  const auto at = std::ranges::find(table.columns(), name, &Column::name);
  return std::get<std::vector<double>>(at->values);
}

Table spectrum(const Swarm& swarm, const std::string& yaml, Communicator& servers, std::size_t partials = 1) {
  auto result =
      run_lists(particle_spectrum_kind(), "{mesh: m, " + yaml + "}", swarm.domain, swarm.blocks, servers, partials);
  return servers.rank() == 0 ? result.tables.at("particle_spectrum.csv") : Table();
}

}  // namespace

TEST_CASE("the deposit's spectrum, by each method, with and without weights, in one to three dimensions") {
  MpiCommunicator self(MPI_COMM_SELF);
  for (std::size_t g = 0; g < grids.size(); ++g) {
    const Grid& grid = grids[g];
    const int dimensions = std::min(3, static_cast<int>(g) + 1);
    const Swarm swarm(300, 3, dimensions);
    int window = 0;
    for (const std::string method : {"ngp", "cic", "tsc"}) {
      ++window;
      for (const bool weighted : {false, true}) {
        const std::string common = grid.yaml + ", method: " + method + (weighted ? ", weight: w" : "");
        const DataSet put = run_lists(deposit_kind(), "{mesh: m, periodic: true, file: d.h5, " + common + "}",
                                      swarm.domain, swarm.blocks, self)
                                .data_sets.at("d.h5");
        const std::vector<double> values = reals_of(put, weighted ? "w" : "count");
        const std::vector<double> edges{1, 7, 9, 14, 40};
        const std::string own = common + ", edges: [1, 7, 9, 14, 40]";
        const auto plain = by_definition(values, grid, 0, edges), sharp = by_definition(values, grid, window, edges);
        const Table raw = spectrum(swarm, own + ", deconvolve: false, shot_noise: false", self);
        const Table full = spectrum(swarm, own, self, 3);
        double all = 0, squares = 0, volume = 1;
        for (const double w : swarm.weights) {
          all += weighted ? w : 1;
          squares += weighted ? w * w : 1;
        }
        for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
          volume *= grid.size[a] > 1 ? grid.sides[a] : 1;
        }
        for (std::size_t b = 0; b < 4; ++b) {
          REQUIRE(std::isnan(plain[b]) == std::isnan(reals(raw, "power")[b]));
          if (std::isnan(plain[b])) continue;
          CHECK(reals(raw, "power")[b] == doctest::Approx(plain[b]).epsilon(1e-11));
          const double noise = volume * squares / all / all;
          CHECK(std::fabs(reals(full, "power")[b] + noise - sharp[b]) < 1e-11 * (sharp[b] + noise));
        }
      }
    }
  }
}

TEST_CASE("spectra of particles are the same bits for every division and number of servers") {
  MpiCommunicator world(test_ranks()), self(MPI_COMM_SELF);
  for (std::size_t g = 0; g < grids.size(); ++g) {
    for (const Type type : {Type::float64, Type::float32}) {
      const int dimensions = std::min(3, static_cast<int>(g) + 1);
      const std::string yaml = grids[g].yaml + ", weight: w, method: tsc, bins: widening";
      const Swarm whole(400, 1, dimensions, type);
      const Table expected = spectrum(whole, yaml, self);
      for (const std::size_t parts : {2, 5, 8}) {
        const Table found = spectrum(Swarm(400, parts, dimensions, type), yaml, world, 2);
        if (world.rank() == 0) CHECK(same_bits(found, expected));
      }
    }
  }
}

TEST_CASE("no particles, no weight, one particle") {
  MpiCommunicator self(MPI_COMM_SELF);
  Swarm swarm(1, 1, 3);
  // A single particle is only noise: each mode has the power V.
  const Table one = spectrum(swarm, grids[2].yaml + ", method: ngp, deconvolve: false", self);
  for (std::size_t b = 0; b < one.rows(); ++b) CHECK(std::fabs(reals(one, "power")[b]) < 1e-13);
  std::get<std::vector<double>>(swarm.blocks[0].values.at("w")).assign(2, 0.0);
  CHECK_THROWS_WITH_AS(static_cast<void>(spectrum(swarm, grids[2].yaml + ", weight: w", self)),
                       doctest::Contains("add up to 0"), Error);
  swarm.blocks.erase(swarm.blocks.begin());
  CHECK(run_lists(particle_spectrum_kind(), "{mesh: m, " + grids[2].yaml + "}", swarm.domain, swarm.blocks, self)
            .tables.empty());
}
