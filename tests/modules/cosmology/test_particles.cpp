// Deposits and samples of particles, compared with brute force; the same bytes for every division.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "cosmology/kinds.hpp"
#include "support/grid_checks.hpp"
#include "support/list_blocks.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// Particles dealt out to blocks. Each block also has flagged ones with wrong weights.
struct Particles {
  ListDomain domain;
  std::vector<ListBlock> blocks;
  std::vector<std::array<double, 3>> places;
  std::vector<double> weights;

  Particles(std::size_t count, std::size_t parts, int dimensions, bool numbered, unsigned deal)
      : domain(MeshKind::points, dimensions) {
    domain.add("pos", Type::float64, dimensions, Centering::node, Role::coordinates);
    domain.add("flags", Type::uint8, 1, Centering::node, Role::point_ghosts);
    if (numbered) domain.add("ids", Type::int64, 1, Centering::node, Role::point_ids);
    domain.add("w", Type::float64, 2, Centering::node);
    std::mt19937 random(11);
    std::uniform_real_distribution<double> place(-0.2, 1.2), weight(-1, 3);
    std::vector<std::vector<double>> pos(parts), w(parts);
    std::vector<std::vector<std::uint8_t>> flags(parts);
    std::vector<std::vector<std::int64_t>> ids(parts);
    std::mt19937 dealer(deal);
    for (std::size_t n = 0; n < count; ++n) {
      places.push_back({place(random), place(random), place(random)});
      weights.push_back(std::exp(20 * weight(random)));
      const std::size_t part = dealer() % parts;
      for (const bool ghost : {true, false}) {
        if (ghost && n % 7 != 0) continue;
        const std::size_t in = ghost ? (part + 1) % parts : part;
        pos[in].insert(pos[in].end(), places.back().begin(), places.back().begin() + dimensions);
        w[in].insert(w[in].end(), {0.0, ghost ? 1e30 : weights.back()});
        flags[in].push_back(ghost ? 1 : 0);
        ids[in].push_back(static_cast<std::int64_t>(1000 + n));
      }
    }
    for (std::size_t part = 0; part < parts; ++part) {
      const auto points = static_cast<Index>(flags[part].size());
      blocks.push_back({points, points, 0, {}});
      blocks.back().values = {{"pos", pos[part]}, {"flags", flags[part]}, {"ids", ids[part]}, {"w", w[part]}};
    }
  }
};

/// The part of a particle at `x` (in cells) that goes to `cell` of `n`, found by looking at every cell.
long double part_of(double x, Index cell, Index n, const std::string& method, bool periodic) {
  const auto nearness = [&](double middle) -> long double {
    if (method == "ngp") return x >= middle - 0.5 && x < middle + 0.5 ? 1 : 0;
    const long double off = std::fabs(static_cast<long double>(x) - middle);
    if (method == "cic") return std::max(0.0L, 1 - off);
    return off <= 0.5L ? 0.75L - off * off : off < 1.5L ? 0.5L * (1.5L - off) * (1.5L - off) : 0;
  };
  if (periodic) {
    long double sum = 0;
    for (int turn = -3; turn <= 3; ++turn) sum += nearness(static_cast<double>(cell + turn * n) + 0.5);
    return sum;
  }
  if (x < 0 || x > static_cast<double>(n)) return 0;
  long double sum = nearness(static_cast<double>(cell) + 0.5);
  if (cell == 0) sum += nearness(-0.5);
  if (cell == n - 1) sum += nearness(static_cast<double>(n) + 0.5);
  return sum;
}

std::vector<long double> deposited(const Particles& p, const std::array<Index, 3>& size, const std::string& method,
                                   bool periodic, bool weighted) {
  std::vector<long double> sums(static_cast<std::size_t>(size[0] * size[1] * size[2]), 0);
  const int dimensions = p.domain.metadata.meshes[0].dimensions;
  for (std::size_t n = 0; n < p.places.size(); ++n) {
    for (std::size_t cell = 0; cell < sums.size(); ++cell) {
      const auto c = static_cast<Index>(cell);
      const std::array<Index, 3> at{c % size[0], c / size[0] % size[1], c / size[0] / size[1]};
      long double part = weighted ? p.weights[n] : 1;
      for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
        part *= part_of(p.places[n][a] * static_cast<double>(size[a]), at[a], size[a], method, periodic);
      }
      // A particle that is outside along one axis is outside.
      bool inside = true;
      for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
        inside = inside && (periodic || (p.places[n][a] >= 0 && p.places[n][a] <= 1));
      }
      if (inside) sums[cell] += part;
    }
  }
  return sums;
}

const char* const deposit_file = "deposit-{index:05}.h5";

std::int64_t attribute(const DataSet& data, const std::string& name) {
  return std::get<std::int64_t>(std::ranges::find(data.attributes, name, &DataSet::Attribute::name)->value);
}

}  // namespace

TEST_CASE("all schemes, weighted or not, periodic or not, in one to three dimensions") {
  MpiCommunicator self(MPI_COMM_SELF);
  for (const int dimensions : {1, 2, 3}) {
    const Particles p(200, 3, dimensions, false, 1);
    const std::array<Index, 3> size{4, dimensions > 1 ? 3 : 1, dimensions > 2 ? 2 : 1};
    const char* const grids[] = {"size: 4, low: 0, high: 1", "size: [4, 3], low: [0, 0], high: [1, 1]",
                                 "size: [4, 3, 2], low: [0, 0, 0], high: [1, 1, 1]"};
    for (const std::string method : {"ngp", "cic", "tsc"}) {
      for (const bool periodic : {false, true}) {
        for (const bool weighted : {false, true}) {
          const std::string yaml = std::string("{mesh: m, ") + grids[dimensions - 1] + ", method: " + method +
                                   ", periodic: " + (periodic ? "true" : "false") +
                                   (weighted ? ", weight: w, component: 1}" : "}");
          const DataSet data = run_lists(deposit_kind(), yaml, p.domain, p.blocks, self, 2).data_sets.at(deposit_file);
          const std::vector<double> values = reals_of(data, weighted ? "w" : "count");
          const std::vector<long double> expected = deposited(p, size, method, periodic, weighted);
          REQUIRE(values.size() == expected.size());
          for (std::size_t n = 0; n < values.size(); ++n) {
            REQUIRE(values[n] == doctest::Approx(static_cast<double>(expected[n])).epsilon(1e-11));
          }
          std::int64_t inside = 0;
          for (const auto& x : p.places) {
            bool in = true;
            for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) in = in && x[a] >= 0 && x[a] <= 1;
            inside += in || periodic;
          }
          CHECK(attribute(data, "particles") == inside);
          CHECK(attribute(data, "outside") == 200 - inside);
        }
      }
    }
  }
}

TEST_CASE("deposits are the same bytes for every division and number of servers") {
  MpiCommunicator world(test_ranks()), self(MPI_COMM_SELF);
  const std::string yaml =
      "{mesh: m, weight: w, component: 1, quantity: density, size: [5, 4, 7], low: [0, 0, 0], high: [1, 2, 1]}";
  const Particles whole(500, 1, 3, false, 0);
  // One block has each flagged particle in addition to the real one.
  const DataSet expected = run_lists(deposit_kind(), yaml, whole.domain, whole.blocks, self).data_sets.at(deposit_file);
  CHECK(array_of(expected, "w").axes == std::vector<std::string>{"z", "y", "x"});
  CHECK(reals_of(expected, "y") == std::vector<double>{0.25, 0.75, 1.25, 1.75});
  const DataSet sums =
      run_lists(deposit_kind(), "{mesh: m, weight: w, component: 1, size: [5, 4, 7], low: [0, 0, 0], high: [1, 2, 1]}",
                whole.domain, whole.blocks, self)
          .data_sets.at(deposit_file);
  for (std::size_t n = 0; n < 140; ++n) {
    CHECK(reals_of(expected, "w")[n] == doctest::Approx(reals_of(sums, "w")[n] * 70).epsilon(1e-12));
  }
  for (const std::size_t parts : {2, 3, 5, 8}) {
    const Particles divided(500, parts, 3, false, static_cast<unsigned>(parts));
    const auto result = run_lists(deposit_kind(), yaml, divided.domain, divided.blocks, world, 3);
    if (world.rank() == 0) CHECK(same_bits(result.data_sets.at(deposit_file), expected));
  }
}

TEST_CASE("particles on faces, at no place, with no weight; no particles") {
  MpiCommunicator self(MPI_COMM_SELF);
  ListDomain domain(MeshKind::points, 1);
  domain.add("pos", Type::float64, 1, Centering::node, Role::coordinates);
  domain.add("w", Type::float64, 1, Centering::node);
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  std::vector<ListBlock> blocks{{7, 7, 0, {}}, {0, 0, 0, {}}};
  blocks[0].values = {{"pos", std::vector<double>{0, 1, 0.5, nan, infinity, -1e-300, 0.1}},
                      {"w", std::vector<double>{1, 1, 1, 1, 1, 1, nan}}};
  blocks[1].values = {{"pos", std::vector<double>{}}, {"w", std::vector<double>{}}};
  const std::string grid = "size: 2, low: 0, high: 1, method: ngp";
  const auto run = [&](const std::string& yaml) {
    return run_lists(deposit_kind(), yaml, domain, blocks, self).data_sets.at(deposit_file);
  };
  const DataSet data = run("{mesh: m, " + grid + "}");
  CHECK(reals_of(data, "count") == std::vector<double>{2, 2});
  CHECK(attribute(data, "outside") == 3);
  const std::vector<double> weighted = reals_of(run("{mesh: m, weight: w, " + grid + "}"), "w");
  CHECK(std::isnan(weighted[0]));
  CHECK(weighted[1] == 2);
  CHECK(reals_of(run("{mesh: m, periodic: true, " + grid + "}"), "count") == std::vector<double>{4, 1});
  blocks.erase(blocks.begin());
  CHECK(reals_of(run("{mesh: m, " + grid + "}"), "count") == std::vector<double>{0, 0});
}

namespace {

Table sample(const Particles& p, const std::string& options, Communicator& servers, std::size_t partials = 1) {
  const auto result =
      run_lists(subsample_kind(), "{mesh: m, file: s.csv, " + options + "}", p.domain, p.blocks, servers, partials);
  return servers.rank() == 0 ? result.tables.at("s.csv") : Table();
}

std::set<double> firsts(const Table& table) {
  const auto at = std::ranges::find(table.columns(), "x", &Column::name) - table.columns().begin();
  const auto& x = std::get<std::vector<double>>(table.columns()[static_cast<std::size_t>(at)].values);
  return {x.begin(), x.end()};
}

}  // namespace

TEST_CASE("a fraction draws about so many, each once, whole and as it is") {
  MpiCommunicator self(MPI_COMM_SELF);
  for (const bool numbered : {false, true}) {
    const Particles p(5000, 4, 3, numbered, 1);
    const Table table = sample(p, "fraction: 0.2, variables: w", self, 3);
    CHECK(table.rows() > 850);  // five standard deviations
    CHECK(table.rows() < 1150);
    CHECK(firsts(table).size() == table.rows());
    CHECK(table.names() == (numbered ? std::vector<std::string>{"point_id", "x", "y", "z", "w_0", "w_1"}
                                     : std::vector<std::string>{"x", "y", "z", "w_0", "w_1"}));
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const std::size_t first = numbered ? 1 : 0;
      const auto x = std::get<double>(table.at(row, first));
      const auto n =
          static_cast<std::size_t>(std::ranges::find(p.places, x, [](auto& q) { return q[0]; }) - p.places.begin());
      REQUIRE(n < p.places.size());
      CHECK(std::get<double>(table.at(row, first + 2)) == p.places[n][2]);
      CHECK(std::get<double>(table.at(row, first + 4)) == p.weights[n]);
      if (numbered) CHECK(std::get<std::int64_t>(table.at(row, 0)) == static_cast<std::int64_t>(1000 + n));
    }
    CHECK(sample(p, "fraction: 1", self).rows() == 5000);
    const std::set<double> other = firsts(sample(p, "fraction: 0.2, seed: 5", self)), drawn = firsts(table);
    CHECK(other != drawn);
    const std::set<double> more = firsts(sample(p, "fraction: 0.3", self));
    CHECK(std::includes(more.begin(), more.end(), drawn.begin(), drawn.end()));
  }
}

TEST_CASE("a maximum is kept, and all are drawn if there are no more") {
  MpiCommunicator self(MPI_COMM_SELF);
  const Particles p(3000, 4, 3, true, 1);
  for (const int maximum : {0, 1, 7, 100, 2999, 3000, 4000}) {
    const std::string yaml = "maximum: " + std::to_string(maximum);
    CHECK(sample(p, yaml, self, 3).rows() == static_cast<std::size_t>(std::min(maximum, 3000)));
  }
  const std::set<double> few = firsts(sample(p, "maximum: 50", self)), many = firsts(sample(p, "maximum: 500", self));
  CHECK(std::includes(many.begin(), many.end(), few.begin(), few.end()));
}

TEST_CASE("samples are the same bytes for every division and number of servers") {
  MpiCommunicator world(test_ranks()), self(MPI_COMM_SELF);
  for (const bool numbered : {false, true}) {
    for (const char* amount : {"fraction: 0.1", "maximum: 123", "fraction: 1"}) {
      const Particles whole(2000, 1, 2, numbered, 0);
      const Table expected = sample(whole, amount, self);
      const std::string as_points = std::string("{mesh: m, variables: w, ") + amount + "}";
      const char* const file = "sample-{index:05}.vtp";
      const Surface surface =
          run_lists(subsample_kind(), as_points, whole.domain, whole.blocks, self).surfaces.at(file);
      CHECK(surface.points.size() == expected.rows());
      for (const std::size_t parts : {2, 3, 5, 8}) {
        const Particles divided(2000, parts, 2, numbered, static_cast<unsigned>(parts));
        const Table table = sample(divided, amount, world, 2);
        const auto result = run_lists(subsample_kind(), as_points, divided.domain, divided.blocks, world, 2);
        if (world.rank() != 0) continue;
        CHECK(same_bits(table, expected));
        CHECK(same_bits(result.surfaces.at(file), surface));
      }
    }
  }
}

TEST_CASE("particles at one place without numbers are drawn all or none") {
  MpiCommunicator self(MPI_COMM_SELF);
  ListDomain domain(MeshKind::points, 1);
  domain.add("pos", Type::float64, 1, Centering::node, Role::coordinates);
  std::vector<ListBlock> blocks{{6, 6, 0, {}}};
  blocks[0].values = {{"pos", std::vector<double>{1, 1, 1, 1, 0.0, -0.0}}};
  const auto rows = [&](const std::string& amount) {
    return run_lists(subsample_kind(), "{mesh: m, file: s.csv, " + amount + "}", domain, blocks, self)
        .tables.at("s.csv")
        .rows();
  };
  CHECK(rows("maximum: 1") == 0);
  CHECK((rows("maximum: 5") == 4 || rows("maximum: 5") == 2));
  CHECK(rows("maximum: 6") == 6);
}

TEST_CASE("what cannot be deposited or drawn is refused with a sentence") {
  MpiCommunicator self(MPI_COMM_SELF);
  const Particles p(3, 1, 2, false, 0);
  const auto refused = [&](const AnalysisKind& kind, const std::string& yaml, const char* text) {
    CHECK_THROWS_WITH_AS(static_cast<void>(run_lists(kind, yaml, p.domain, p.blocks, self)), doctest::Contains(text),
                         Error);
  };
  refused(deposit_kind(), "{mesh: m, size: [2, 2, 2], low: [0, 0], high: [1, 1]}", "found 3 numbers, expected 2");
  refused(deposit_kind(), "{mesh: m, size: [2, 2], low: [0, 1], high: [1, 1]}", "reaches from 1 to 1 along y");
  refused(deposit_kind(), "{mesh: m, size: [2, 2], low: [0, 0], high: [1, 1], weight: w}", "'w' has 2 components");
  refused(subsample_kind(), "{mesh: m}", "give one of the two");
  refused(subsample_kind(), "{mesh: m, fraction: 0.5, maximum: 3}", "give one of the two");
  refused(subsample_kind(), "{mesh: m, fraction: 0}", "above 0 and up to 1");
  refused(subsample_kind(), "{mesh: m, maximum: 3, variables: pos}", "describes its mesh");
}
