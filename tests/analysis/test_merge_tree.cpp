// Merge trees against the reference pairs, against sweeping over all cells, and the same bits for every division.
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/halo_checks.hpp"
#include "analysis/hash_field.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct Pair {
  Index saddle = -1, into = -1;
};

/// Cells from the highest down, each joined with its higher neighbours: of the components that meet at it all but the
/// one with the highest maximum end.
std::map<Index, Pair> swept(const Cells& cells) {
  std::vector<Index> order;
  for (std::size_t n = 0; n < cells.values.size(); ++n) {
    if (!std::isnan(cells.values[n])) order.push_back(static_cast<Index>(n));
  }
  const auto value = [&](Index id) { return cells.values[static_cast<std::size_t>(id)]; };
  const auto above = [&](Index a, Index b) { return value(a) != value(b) ? value(a) > value(b) : a > b; };
  std::sort(order.begin(), order.end(), above);
  std::map<Index, Index> top_of;  // of a cell; a component is all cells of one top
  std::map<Index, std::vector<Index>> members;
  std::map<Index, Pair> pairs;
  for (const Index id : order) {
    std::set<Index> tops;
    for (const Index other : cells.neighbours(id)) {
      if (top_of.count(other) != 0) tops.insert(top_of[other]);
    }
    Index best = id;
    for (const Index top : tops) best = above(top, best) ? top : best;
    if (best == id) pairs[id] = {};
    for (const Index top : tops) {
      if (top == best) continue;
      pairs[top] = {id, best};
      for (const Index member : members[top]) top_of[member] = best;
      members[best].insert(members[best].end(), members[top].begin(), members[top].end());
    }
    top_of[id] = best;
    members[best].push_back(id);
  }
  return pairs;
}

double noise(const Index3& p, unsigned seed, unsigned values) {
  std::seed_seq seeds{static_cast<unsigned>(p[0] + 100), static_cast<unsigned>(p[1] + 100),
                      static_cast<unsigned>(p[2] + 100), seed};
  unsigned word[1];
  seeds.generate(word, word + 1);
  if (seed % 4 == 3 && word[0] % 11 == 0) return not_a_number;
  return static_cast<double>(word[0] / 16 % values);
}

FakeDomain noisy(const Index3& size, int dimensions, unsigned seed, Type type = Type::float64,
                 Order order = Order::column) {
  const unsigned values = seed % 2 == 0 ? 1u << 20 : 6;  // with plateaus or without
  const Box cells{{2, -3, 5}, {2 + size[0], -3 + size[1], 5 + size[2]}};
  FakeDomain domain(
      cells, std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0}),
      {{"a", [=](auto&, const Index3& p, int) { return noise(p, seed, values); }, Centering::cell, 1, type, order}},
      dimensions);
  domain.metadata.meshes[0].periodic = {(seed & 1) != 0, (seed & 2) != 0, (seed & 4) != 0};
  return domain;
}

const char* const tree_file = "merge-tree-{index:05}.csv";

void compare(const Table& table, const std::map<Index, Pair>& expected, const Cells& cells) {
  REQUIRE(table.rows() == expected.size());
  std::size_t row = 0;
  for (const auto& [top, pair] : expected) {
    CHECK(whole(table, row, "birth_index") == top);
    CHECK(real(table, row, "birth") == cells.values[static_cast<std::size_t>(top)]);
    CHECK(whole(table, row, "saddle_index") == pair.saddle);
    CHECK(whole(table, row, "into_index") == pair.into);
    if (pair.saddle >= 0) CHECK(real(table, row, "death") == cells.values[static_cast<std::size_t>(pair.saddle)]);
    ++row;
  }
}

}  // namespace

TEST_CASE("the most persistent pairs are those of the reference") {
  FakeDomain domain =
      fake_cube(64, 0, 20, {{"a", [field = HashField(64)](auto&, const Index3& p, int) { return field(p); }}});
  domain.metadata.meshes[0].periodic = {true, true, true};
  const auto pairs = reference_rows("hash_64_c14_pairs.csv");
  MpiCommunicator world(MPI_COMM_WORLD);
  Table first;
  for (const Division& division : {Division{domain.mesh().cells}, random_division(domain.mesh().cells, 23, 3)}) {
    const auto results =
        run_analysis(merge_tree_kind(), "{variable: a, connectivity: 14}", domain, division, world, {.ghosts = 1});
    if (world.rank() != 0) continue;
    const Table& table = results.tables.at(tree_file);
    if (first.rows() == 0) first = table;
    CHECK(same_bits(table, first));
    std::map<Index, std::size_t> row_of;
    for (std::size_t r = 0; r < table.rows(); ++r) row_of[whole(table, r, "birth_index")] = r;
    double least = std::numeric_limits<double>::infinity();
    for (const auto& pair : pairs) {
      const auto at = row_of.find(static_cast<Index>(pair.at("birth_index")));
      REQUIRE(at != row_of.end());
      CHECK(whole(table, at->second, "saddle_index") == static_cast<Index>(pair.at("saddle_index")));
      CHECK(real(table, at->second, "birth") == pair.at("birth"));
      CHECK(real(table, at->second, "death") == pair.at("death"));
      least = std::min(least, pair.at("birth") - pair.at("death"));
    }
    std::size_t above = 0;  // and there are no others as persistent
    for (std::size_t r = 0; r < table.rows(); ++r) {
      above += whole(table, r, "saddle_index") >= 0 && real(table, r, "persistence") > least ? 1 : 0;
    }
    CHECK(above < pairs.size());
  }
}

TEST_CASE("the tree is that of sweeping over the cells") {
  for (const int connectivity : {6, 14, 18, 26}) {
    for (unsigned seed = 0; seed < 8; ++seed) {
      const FakeDomain domain = noisy({7, 6, 8}, 3, seed, seed < 4 ? Type::float64 : Type::float32,
                                      seed % 3 == 0 ? Order::row : Order::column);
      const Cells cells(domain, connectivity);
      const auto expected = swept(cells);
      const std::string yaml = "{variable: a, connectivity: " + std::to_string(connectivity) + "}";
      for (const std::size_t blocks : {1, 2, 5, 30}) {
        const auto results =
            run_alone(merge_tree_kind(), yaml, domain, random_division(domain.mesh().cells, blocks, seed),
                      {.ghosts = static_cast<int>(blocks % 2)});
        compare(results.tables.at(tree_file), expected, cells);
      }
    }
  }
}

TEST_CASE("trees of planes, lines and single cells") {
  for (unsigned seed = 0; seed < 4; ++seed) {
    for (const auto& [size, dimensions] :
         {std::pair{Index3{11, 9, 1}, 2}, {Index3{40, 1, 1}, 1}, {Index3{1, 1, 1}, 3}}) {
      const FakeDomain domain = noisy(size, dimensions, seed, Type::float64, Order::row);
      const Cells cells(domain, 14);
      const Index parts = size[0] > 1 ? 3 : 1;
      compare(run_alone(merge_tree_kind(), "{variable: a}", domain, even_division(domain.mesh().cells, {parts, 1, 1}))
                  .tables.at(tree_file),
              swept(cells), cells);
    }
  }
}

TEST_CASE("nothing at all has no tree") {
  const FakeDomain domain = fake_cube(3, 0, 1, {{"a", [](auto&, auto&, int) { return not_a_number; }}});
  CHECK(run_alone(merge_tree_kind(), "{variable: a}", domain, {domain.mesh().cells}).tables.at(tree_file).rows() == 0);
  const auto absent = run_alone(
      merge_tree_kind(),
      "{variable: a, halos: {boundary: 1, halo: 1}, connected: {from: [0.1, 0.1, 0.1], to: [0.9, 0.9, 0.9], above: 0}}",
      domain, {domain.mesh().cells}, {.absent = {0}});
  CHECK(absent.tables.at(tree_file).rows() == 0);
  CHECK(whole(absent.tables.at("connected-{index:05}.csv"), 0, "connected") == 0);
}

TEST_CASE("halos of any thresholds are those that `halos` finds") {
  MpiCommunicator world(MPI_COMM_WORLD);
  const FakeDomain domain = noisy({9, 8, 7}, 3, 6);
  const auto results = run_analysis(
      merge_tree_kind(),
      "{variable: a, connectivity: 6, halos: [{boundary: 1.5, halo: 1.8, units: mean}, {boundary: 600000, halo: 900000, minimum_cells: 3}]}",
      domain, random_division(domain.mesh().cells, 12, 2), world);
  if (world.rank() != 0) return;
  const Table& table = results.tables.at("merge-tree-halos-{index:05}.csv");
  std::size_t row = 0;
  for (const std::string yaml : {"{variable: a, connectivity: 6, boundary: 1.5, halo: 1.8, units: mean}",
                                 "{variable: a, connectivity: 6, boundary: 600000, halo: 900000, minimum_cells: 3}"}) {
    const Table halos = run_alone(halos_kind(), yaml, domain, {domain.mesh().cells}).tables.at("halos-{index:05}.csv");
    CHECK(halos.rows() > 1);
    for (std::size_t h = 0; h < halos.rows(); ++h, ++row) {
      REQUIRE(row < table.rows());
      CHECK(whole(table, row, "peak_index") == whole(halos, h, "peak_index"));
      CHECK(real(table, row, "peak_value") == real(halos, h, "peak_value"));
      CHECK(whole(table, row, "cells") == whole(halos, h, "cells"));
      CHECK(real(table, row, "mass") == real(halos, h, "mass"));
    }
  }
  CHECK(row == table.rows());
}

TEST_CASE("two places hang together above a level exactly if a way of such cells leads from one to the other") {
  MpiCommunicator world(MPI_COMM_WORLD);
  for (unsigned seed = 0; seed < 4; ++seed) {
    const FakeDomain domain = noisy({6, 5, 4}, 3, seed);
    const Cells cells(domain, 14);
    std::mt19937 random(seed);
    std::string yaml = "{variable: a, connected: [";
    std::vector<std::array<Index, 2>> ends;
    std::vector<double> levels;
    for (int n = 0; n < 60; ++n) {
      ends.push_back({static_cast<Index>(random() % 120), static_cast<Index>(random() % 120)});
      levels.push_back(cells.values[random() % 120]);
      if (std::isnan(levels.back())) levels.back() = 1;
      const auto place = [&](Index id) {
        const Index3 p = cells.cell(id);
        return "[" + std::to_string(p[0] + 2) + ".5, " + std::to_string(p[1] - 3 + 0.5) + ", " +
               std::to_string(p[2] + 5) + ".5]";
      };
      yaml += (n ? ", {from: " : "{from: ") + place(ends[n][0]) + ", to: " + place(ends[n][1]) +
              ", above: " + std::to_string(levels.back()) + "}";
    }
    const auto results =
        run_analysis(merge_tree_kind(), yaml + "]}", domain, random_division(domain.mesh().cells, 7, seed), world);
    if (world.rank() != 0) continue;
    const Table& table = results.tables.at("connected-{index:05}.csv");
    REQUIRE(table.rows() == ends.size());
    for (std::size_t n = 0; n < ends.size(); ++n) {
      const auto joined = [&](double level) {
        for (const auto& [peak, halo] : brute_force(cells, level, level)) {
          int found = 0;
          for (const Index3& p : halo.cells) {
            const Index id = (p[0] * cells.size[1] + p[1]) * cells.size[2] + p[2];
            found += (id == ends[n][0]) + (id == ends[n][1]);
          }
          if (found == 2) return true;
        }
        return false;
      };
      CHECK(whole(table, n, "connected") == (joined(levels[n]) ? 1 : 0));
      const double highest = real(table, n, "highest");
      if (!std::isfinite(highest)) continue;
      CHECK(joined(highest));
      CHECK_FALSE(joined(std::nextafter(highest, 1e300)));
    }
  }
}

TEST_CASE("a simplified tree has the branches of that persistence, and they lead to each other") {
  const FakeDomain domain = noisy({9, 9, 9}, 3, 0);
  const Table all = run_alone(merge_tree_kind(), "{variable: a}", domain, {domain.mesh().cells}).tables.at(tree_file);
  const Table few = run_alone(merge_tree_kind(), "{variable: a, minimum_persistence: 300000}", domain,
                              even_division(domain.mesh().cells, {2, 3, 2}))
                        .tables.at(tree_file);
  std::set<Index> kept;
  for (std::size_t r = 0; r < few.rows(); ++r) kept.insert(whole(few, r, "birth_index"));
  std::size_t expected = 0;
  for (std::size_t r = 0; r < all.rows(); ++r) {
    const bool stays = real(all, r, "persistence") >= 300000;
    CHECK(stays == (kept.count(whole(all, r, "birth_index")) != 0));
    expected += stays ? 1 : 0;
    if (stays && whole(all, r, "into_index") >= 0) CHECK(kept.count(whole(all, r, "into_index")) != 0);
  }
  CHECK(expected == few.rows());
  CHECK(expected < all.rows());
}
