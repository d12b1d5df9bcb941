// Merge trees, compared with a sweep over all cells.
#include <cmath>
#include <limits>
#include <numeric>

#include "modules/cosmology/tree_checks.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct Pair {
  Index saddle = -1, into = -1;
};

/// Pairs found by a sweep from the highest cell down, which joins each cell with its higher neighbours. Where
/// components meet, all end except the one with the highest maximum.
std::map<Index, Pair> swept(const Cells& cells) {
  std::vector<Index> order;
  for (std::size_t n = 0; n < cells.values.size(); ++n) {
    if (!std::isnan(cells.values[n])) order.push_back(static_cast<Index>(n));
  }
  const auto value = [&](Index id) { return cells.values[static_cast<std::size_t>(id)]; };
  const auto above = [&](Index a, Index b) { return value(a) != value(b) ? value(a) > value(b) : a > b; };
  std::sort(order.begin(), order.end(), above);
  std::map<Index, Index> top_of;  // the top of each cell; cells with the same top are one component
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

TEST_CASE("the tree is that of sweeping over the cells") {
  for (const int connectivity : {6, 14, 18, 26}) {
    for (unsigned seed = 0; seed < 8; ++seed) {
      const FakeDomain domain = noisy({7, 6, 8}, 3, seed, seed < 4 ? Type::float64 : Type::float32,
                                      seed % 3 == 0 ? Order::row : Order::column);
      const Cells cells(domain, connectivity);
      const auto expected = swept(cells);
      const std::string yaml = "{variable: a, connectivity: " + std::to_string(connectivity) + "}";
      for (const std::size_t blocks : ends_of({1, 2, 5, 30})) {
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

TEST_CASE("maxima that are infinite, and meet at infinite saddles") {
  const double infinite = std::numeric_limits<double>::infinity();
  const FakeDomain domain =
      fake_cube(6, 0, 1, {{"a", [=](auto&, const Index3& p, int) {
                             const auto hash = (p[0] * 7 + p[1] * 5 + p[2] * 3) % 11;
                             return hash < 5 ? infinite : hash < 7 ? -infinite : static_cast<double>(hash);
                           }}});
  const Cells cells(domain, 14);
  const auto expected = swept(cells);
  bool same = false;  // birth and death are the same, so that the difference is NaN
  for (const auto& [top, pair] : expected) {
    same |= pair.saddle >= 0 && std::isinf(cells.values[static_cast<std::size_t>(top)]) &&
            cells.values[static_cast<std::size_t>(top)] == cells.values[static_cast<std::size_t>(pair.saddle)];
  }
  REQUIRE(same);
  const Table table =
      run_alone(merge_tree_kind(), "{variable: a}", domain, even_division(domain.mesh().cells, {2, 1, 3}))
          .tables.at(tree_file);
  compare(table, expected, cells);
  for (std::size_t row = 0; row < table.rows(); ++row) CHECK(real(table, row, "persistence") >= 0);
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

TEST_CASE("files that nobody asked for, or that one iteration would overwrite, are refused") {
  const FakeDomain domain = noisy({4, 4, 4}, 3, 1);
  const auto ask = [&](const std::string& more) {
    return run_alone(merge_tree_kind(), "{variable: a, " + more + "}", domain, {domain.mesh().cells});
  };
  CHECK_THROWS_WITH_AS(ask("halos_file: h.csv"), doctest::Contains("found 'halos_file' without `halos`"), Error);
  CHECK_THROWS_WITH_AS(ask("connected_file: c.csv"), doctest::Contains("found 'connected_file' without `connected`"),
                       Error);
  CHECK_THROWS_WITH_AS(ask("cells: {above: 1, file: cells.h5}"),
                       doctest::Contains("found 'cells.h5', one file for all iterations"), Error);
  CHECK(ask("halos_file: h.csv, halos: {boundary: 1, halo: 1}").tables.contains("h.csv"));
  CHECK(ask("connected_file: c.csv, connected: {from: [2.5, -2.5, 5.5], to: [5.5, -2.5, 5.5], above: 1}")
            .tables.contains("c.csv"));
}
