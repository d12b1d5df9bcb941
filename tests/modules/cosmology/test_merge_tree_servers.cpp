// Merge trees on several servers, compared with reference pairs, with the analysis `halos`, and with flooding.
#include <cmath>
#include <limits>

#include "cosmology/halos/merge_tree/tree_joining.hpp"
#include "modules/cosmology/tree_checks.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const char* const tree_file = "merge-tree-{index:05}.csv";

}  // namespace

TEST_CASE("the most persistent pairs are those of the reference") {
  FakeDomain domain =
      fake_cube(64, 0, 20, {{"a", [field = HashField(64)](auto&, const Index3& p, int) { return field(p); }}});
  domain.metadata.meshes[0].periodic = {true, true, true};
  const auto pairs = reference_rows("hash_64_c14_pairs.csv");
  MpiCommunicator world(test_ranks());
  Table first;
  for (const Division& division : {Division{domain.mesh().cells}, random_division(domain.mesh().cells, 23, 3),
                                   even_division(domain.mesh().cells, {4, 4, 4})}) {
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
    std::size_t above = 0;  // and no other pairs are as persistent
    for (std::size_t r = 0; r < table.rows(); ++r) {
      above += whole(table, r, "saddle_index") >= 0 && real(table, r, "persistence") > least ? 1 : 0;
    }
    CHECK(above < pairs.size());
  }
}

TEST_CASE("halos of any thresholds are those that `halos` finds") {
  MpiCommunicator world(test_ranks());
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

TEST_CASE("two cells are connected above a level exactly if a path of cells above it joins them") {
  MpiCommunicator world(test_ranks());
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

TEST_CASE("the same tree, cells and answers on any number of servers") {
  MpiCommunicator world(test_ranks());
  for (unsigned seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    const auto value = [seed](auto&, const Index3& p, int) { return noise(p, seed, seed % 3 == 0 ? 4 : 1000); };
    FakeDomain domain = periodic(fake_cube(8, 0, 8, {{"a", value}}), {seed % 2 == 0, seed % 4 < 2, seed % 5 == 0});
    const double level = seed % 3 == 0 ? 3 : 700;
    const std::string yaml = "{variable: a, connectivity: " + std::to_string(std::array{6, 14, 18, 26}[seed % 4]) +
                             ", halos: {boundary: " + std::to_string(level) + ", halo: " + std::to_string(level) +
                             "}, cells: {above: " + std::to_string(level) +
                             "}, connected: {from: [1, 1, 1], to: [7, 6, 5], above: 1}}";
    const Division division = random_division(domain.mesh().cells, 1 + 63 * seed / 11, seed);
    const auto results = run_analysis(merge_tree_kind(), yaml, domain, division, world);
    if (world.rank() != 0) continue;
    const auto expected = run_alone(merge_tree_kind(), yaml, domain, {domain.mesh().cells});
    CHECK(expected.tables.size() == 4);
    for (const auto& [name, table] : expected.tables) CHECK(same_bits(results.tables.at(name), table));
  }
}

namespace {

std::int64_t sum_of(std::size_t mine, Communicator& servers) {
  std::int64_t sum = static_cast<std::int64_t>(mine);
  servers.sum({&sum, 1});
  return sum;
}

}  // namespace

TEST_CASE("a server holds what its own cells lead to, not all that reaches borders") {
  MpiCommunicator world(test_ranks());
  const FakeDomain domain = hashed(32);
  const auto servers = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
  const Division slabs = even_division(domain.mesh().cells, {world.size(), 1, 1});
  const FakeServer server(domain, slabs, {me}, Selection{{{0, 0}}}, 0);
  const halos::Lattice lattice(domain.mesh(), Order::column);
  halos::BlockTree tree(server.views()[0][0], slabs[me], lattice, 14, 0);
  std::vector<halos::BorderCell> border = tree.take_border();
  for (halos::BorderCell& cell : border) cell.owner = static_cast<std::uint32_t>(me) & 0xffffff;
  std::vector<halos::TreeEdge> own;
  for (const halos::Triplet& one : tree.open()) own.push_back({one.top, one.into, one.saddle});
  const auto met = halos::border_edges(std::move(border), lattice, halos::row_steps(14), world);
  const auto mine = halos::reduce_trees(own, met, world);
  std::vector<halos::TreeEdge> edges = own;
  for (const halos::ServerEdge& one : met) edges.push_back(one.edge);
  const auto all = halos::join_forests(edges, world);
  CHECK(mine.size() <= all.size());
  if (servers >= 5) CHECK(sum_of(mine.size(), world) < sum_of(all.size(), world) * 2 / 3);
  // Both forests give the same result for each maximum here, at every level.
  halos::TripletMap few(mine), many(all);
  few.add(tree.certain());
  many.add(tree.certain());
  for (const halos::ValuedCell& top : tree.maxima()) {
    for (const double part : {0.9, 0.5, 0.1, 0.0}) {
      const halos::ValuedCell level = halos::level_of(part * top.value);
      CHECK(few.follow(top, level).id == many.follow(top, level).id);
    }
  }
}
