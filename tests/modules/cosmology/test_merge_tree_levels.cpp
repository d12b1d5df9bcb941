// Merge trees of octrees and patches, compared with union-find over all leaf cells, with the tree of the finest level,
// and with the analysis `halos`. Results have the same bits for every division and number of servers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "modules/cosmology/halo_level_cases.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const char *const tree_file = "merge-tree-{index:05}.csv", *const cells_file = "merge-tree-cells-{index:05}.h5",
                  *const halos_file = "merge-tree-halos-{index:05}.csv",
                  *const answers_file = "connected-{index:05}.csv";

constexpr Index none = -1;

/// The leaf cells of a mesh. The parts of a cell on the finest level name it by the last of them.
struct LeafCells {
  Cells fine;
  std::vector<Index> name_of;  ///< of each finest cell
  std::map<Index, TreeCell> leaves;

  LeafCells(const FakeDomain& domain, int connectivity, const LeafAt& leaf) : fine(domain, connectivity) {
    std::map<std::pair<std::int32_t, Index3>, Index> last;
    std::vector<std::pair<std::int32_t, Index3>> keys;
    for (std::size_t n = 0; n < fine.values.size(); ++n) {
      const TreeCell cell = leaf(fine.cell(static_cast<Index>(n))).first;
      keys.emplace_back(cell.level, cell.index);
      last[keys.back()] = static_cast<Index>(n);
    }
    for (const auto& key : keys) {
      name_of.push_back(last[key]);
      leaves[last[key]] = {key.first, key.second};
    }
  }
  [[nodiscard]] double value(Index name) const { return fine.values[static_cast<std::size_t>(name)]; }
};

/// A branch of a tree by the names of its cells.
struct Pair {
  Index saddle = none, into = none;
};

/// Adds cells from the highest down, and joins each with its neighbours by union-find.
std::map<Index, Pair> united(const LeafCells& cells) {
  std::map<Index, std::set<Index>> neighbours;
  for (std::size_t n = 0; n < cells.name_of.size(); ++n) {
    for (const Index other : cells.fine.neighbours(static_cast<Index>(n))) {
      neighbours[cells.name_of[n]].insert(cells.name_of[static_cast<std::size_t>(other)]);
    }
  }
  std::vector<Index> order;
  for (const auto& [name, cell] : cells.leaves) {
    if (!std::isnan(cells.value(name))) order.push_back(name);
  }
  const auto above = [&](Index a, Index b) {
    return cells.value(a) != cells.value(b) ? cells.value(a) > cells.value(b) : a > b;
  };
  std::sort(order.begin(), order.end(), above);
  std::map<Index, Index> parent, top;
  const auto root_of = [&](Index cell) {
    while (parent.at(cell) != cell) cell = parent.at(cell);
    return cell;
  };
  std::map<Index, Pair> pairs;
  for (const Index name : order) {
    parent[name] = name;
    top[name] = name;
    std::set<Index> roots;
    for (const Index other : neighbours[name]) {
      if (other != name && parent.count(other) != 0) roots.insert(root_of(other));
    }
    Index best = name;
    for (const Index root : roots) best = above(top[root], best) ? top[root] : best;
    if (best == name) pairs[name] = {};
    for (const Index root : roots) {
      if (top[root] != best) pairs[top[root]] = {name, best};
      parent[root] = name;
    }
    top[name] = best;
  }
  return pairs;
}

void compare(const Table& table, const std::map<Index, Pair>& expected, const LeafCells& cells,
             const FakeDomain& fine) {
  REQUIRE(table.rows() == expected.size());
  const auto& geometry = dynamic_cast<const UniformGeometry&>(*fine.mesh().geometry);
  const auto check = [&](std::size_t row, const std::string& which, Index name) {
    CHECK(whole(table, row, which + "level") == (name < 0 ? -1 : cells.leaves.at(name).level));
    for (std::size_t a = 0; a < static_cast<std::size_t>(fine.mesh().dimensions); ++a) {
      const double x = real(table, row, which + "xyz"[a]);
      if (name < 0) {
        CHECK(std::isnan(x));
        continue;
      }
      Index width = 0;
      for (Index p = cells.fine.cell(name)[a]; p >= 0; --p, ++width) {
        Index3 at = cells.fine.cell(name);
        at[a] = p;
        if (cells
                .name_of[static_cast<std::size_t>((at[0] * cells.fine.size[1] + at[1]) * cells.fine.size[2] + at[2])] !=
            name)
          break;
      }
      const double end = static_cast<double>(cells.fine.cell(name)[a] + 1);
      CHECK(x == doctest::Approx(geometry.origin()[a] + geometry.spacing()[a] * (end - static_cast<double>(width) / 2))
                     .epsilon(1e-12));
    }
  };
  std::map<Index, std::size_t> row_of;  // rows ascend like the names
  for (const auto& [name, pair] : expected) row_of.emplace(name, row_of.size());
  for (const auto& [name, pair] : expected) {
    const std::size_t row = row_of[name];
    check(row, "birth_", name);
    check(row, "saddle_", pair.saddle);
    CHECK(real(table, row, "birth") == cells.value(name));
    if (pair.saddle >= 0) CHECK(real(table, row, "death") == cells.value(pair.saddle));
    const Index into = whole(table, row, "into_index");
    CHECK(into == (pair.into < 0 ? none : whole(table, row_of[pair.into], "birth_index")));
  }
}

/// Births and deaths of the branches that last.
std::multiset<std::pair<double, double>> lasting(const Table& table) {
  std::multiset<std::pair<double, double>> all;
  for (std::size_t r = 0; r < table.rows(); ++r) {
    if (real(table, r, "persistence") > 0) all.emplace(real(table, r, "birth"), real(table, r, "death"));
  }
  return all;
}

/// Halos, kept cells and answers beside the tree.
std::string questions(int connectivity, const std::string& from, const std::string& to) {
  return "{variable: t, connectivity: " + std::to_string(connectivity) +
         ", halos: [{boundary: 4, halo: 6}, {boundary: 1.1, halo: 1.6, units: mean, minimum_cells: 2}], " +
         "cells: {above: 3}, connected: {from: " + from + ", to: " + to + ", above: 3}}";
}

/// Halos have the cells, volumes and masses that `halos` finds.
void compare_halos(const Table& found, const Table& one, const Table& two) {
  std::size_t row = 0;
  for (const Table* table : {&one, &two}) {
    for (std::size_t h = 0; h < table->rows(); ++h, ++row) {
      REQUIRE(row < found.rows());
      for (const char* name : {"peak_level", "cells"}) CHECK(whole(found, row, name) == whole(*table, h, name));
      for (const char* name : {"peak_value", "peak_x", "mass", "volume"}) {
        CHECK(real(found, row, name) == real(*table, h, name));
      }
    }
  }
  CHECK(row == found.rows());
}

const char* const first_halos = ", boundary: 4, halo: 6}";
const char* const second_halos = ", boundary: 1.1, halo: 1.6, units: mean, minimum_cells: 2}";

CapturedResults run_tree(const AnalysisKind& kind, const std::string& yaml, const TreeWorld& world,
                         std::array<bool, 3> along, std::size_t blocks, Communicator& servers,
                         std::size_t partials = 1) {
  TreeBlocks tree(world, blocks);
  tree.domain.metadata.meshes[0].periodic = along;
  return run_lists(kind, yaml, tree.domain, tree.blocks, servers, partials);
}

void check_same(const CapturedResults& found, const CapturedResults& expected) {
  for (const auto& [name, table] : expected.tables) CHECK(same_bits(found.tables.at(name), table));
}

}  // namespace

TEST_CASE("the tree of an octree is that of union-find over its leaves, in every division") {
  MpiCommunicator world_communicator(test_ranks()), self(MPI_COMM_SELF);
  for (const int dimensions : {1, 2, 3}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      if (seed > 1 && dimensions == 3 && !test_all()) continue;
      CAPTURE(seed);
      const std::int32_t deepest = dimensions == 3 ? 2 : 3;
      TreeWorld world = tree_of(dimensions, seed, deepest);
      if (dimensions == 1) world.roots = {5, 1, 1};
      const std::array<bool, 3> along{seed % 2 == 1, seed > 1, seed == 1};
      LeafAt leaf;
      const FakeDomain fine = resampled(world, deepest, along, leaf);
      for (const int connectivity : {6, 14, 18, 26}) {
        const LeafCells cells(fine, connectivity, leaf);
        const std::string from = dimensions == 1 ? "[-0.9]" : dimensions == 2 ? "[-0.9, 0.6]" : "[-0.9, 0.6, 2.1]";
        const std::string to = dimensions == 1 ? "[6.9]" : dimensions == 2 ? "[3, 3]" : "[3, 2, 4]";
        const std::string yaml = questions(connectivity, from, to);
        const CapturedResults one = run_tree(merge_tree_kind(), yaml, world, along, 1, self);
        compare(one.tables.at(tree_file), united(cells), cells, fine);
        const std::string plain = "{variable: t, connectivity: " + std::to_string(connectivity);
        CHECK(lasting(one.tables.at(tree_file)) ==
              lasting(run_alone(merge_tree_kind(), plain + "}", fine, {fine.mesh().cells}).tables.at(tree_file)));
        const auto halos = [&](const char* rest) {
          return run_tree(halos_kind(), plain + rest, world, along, 1, self).tables.at("halos-{index:05}.csv");
        };
        compare_halos(one.tables.at(halos_file), halos(first_halos), halos(second_halos));
        for (const std::size_t blocks : {3, 7}) {
          check_same(run_tree(merge_tree_kind(), yaml, world, along, blocks, self), one);
          const CapturedResults all = run_tree(merge_tree_kind(), yaml, world, along, blocks, world_communicator);
          if (world_communicator.rank() == 0) check_same(all, one);
        }
      }
    }
  }
}

TEST_CASE("the tree of patches with any ratios, in every division") {
  MpiCommunicator world_communicator(test_ranks()), self(MPI_COMM_SELF);
  for (const int dimensions : {2, 3}) {
    PatchWorld world = random_patches(dimensions, 6);
    world.periodic = {dimensions == 2, false, true};
    world.value = [](const TreeCell& cell, auto&) { return value_of(cell, 5); };
    LeafAt leaf;
    const FakeDomain fine = resampled(world, leaf);
    for (const int connectivity : {6, 26}) {
      const std::string yaml = questions(connectivity, dimensions == 2 ? "[0.1, 0.1]" : "[0.1, 0.1, 0.1]",
                                         dimensions == 2 ? "[0.6, 0.5]" : "[0.6, 0.5, 0.4]");
      const CapturedResults one = run_patches(merge_tree_kind(), yaml, world, self);
      if (dimensions == 2 || test_all()) {
        const LeafCells cells(fine, connectivity, leaf);
        compare(one.tables.at(tree_file), united(cells), cells, fine);
      }
      const std::string plain = "{variable: t, connectivity: " + std::to_string(connectivity);
      CHECK(lasting(one.tables.at(tree_file)) ==
            lasting(run_alone(merge_tree_kind(), plain + "}", fine, {fine.mesh().cells}).tables.at(tree_file)));
      const auto halos = [&](const char* rest) {
        return run_patches(halos_kind(), plain + rest, world, self).tables.at("halos-{index:05}.csv");
      };
      compare_halos(one.tables.at(halos_file), halos(first_halos), halos(second_halos));
      for (const PatchWorld& divided : {world, halved(world)}) {
        const CapturedResults all = run_patches(merge_tree_kind(), yaml, divided, world_communicator);
        if (world_communicator.rank() == 0) check_same(all, one);
      }
    }
  }
}

TEST_CASE("kept cells have their level, indices and volume, and answers are those of the halos") {
  MpiCommunicator self(MPI_COMM_SELF);
  const TreeWorld world = tree_of(2, 2, 3);
  LeafAt leaf;
  const FakeDomain fine = resampled(world, 3, {}, leaf);
  const LeafCells cells(fine, 6, leaf);
  const CapturedResults found = run_tree(merge_tree_kind(), questions(6, "[-0.9, 0.6]", "[3, 3]"), world, {}, 2, self);
  const Table& kept = found.tables.at(cells_file);
  std::size_t row = 0;
  for (const auto& [name, cell] : cells.leaves) {
    if (!(cells.value(name) >= 3)) continue;
    REQUIRE(row < kept.rows());
    CHECK(real(kept, row, "value") == cells.value(name));
    CHECK(whole(kept, row, "level") == cell.level);
    CHECK(whole(kept, row, "i") == cell.index[0]);
    CHECK(whole(kept, row, "j") == cell.index[1]);
    CHECK(real(kept, row, "volume") == 2.0 / std::exp2(2 * cell.level));
    ++row;
  }
  CHECK(row == kept.rows());
  const Table& answer = found.tables.at(answers_file);
  const bool connected = whole(answer, 0, "connected") == 1;
  CHECK(connected == (real(answer, 0, "highest") >= 3));
  bool together = false;
  const auto at = [&](double x, double y) {
    const Index3 p{static_cast<Index>((x + 1) * 4), static_cast<Index>((y - 0.5) * 8), 0};
    return p;
  };
  for (const auto& [peak, halo] : brute_force(cells.fine, 3, 3)) {
    int ends = 0;
    for (const Index3& p : halo.cells) ends += (p == at(-0.9, 0.6)) + (p == at(3, 3));
    together |= ends == 2;
  }
  CHECK(connected == together);
}

TEST_CASE("trees that are too deep to number their cells, and empty ones") {
  MpiCommunicator self(MPI_COMM_SELF);
  TreeWorld world;
  world.owner = scattered;
  const auto refined_to = [&](std::int32_t deepest) {
    world.refined = [=](const TreeCell& cell) { return cell.index == Index3{} && cell.level < deepest; };
    world.value = [](const TreeCell& cell, auto&) { return static_cast<double>(cell.level); };
    return run_tree(merge_tree_kind(), "{variable: t}", world, {}, 2, self);
  };
  const Table deep = refined_to(19).tables.at(tree_file);
  REQUIRE(deep.rows() == 1);
  CHECK(real(deep, 0, "birth") == 19);
  CHECK(whole(deep, 0, "birth_level") == 19);
  CHECK(real(deep, 0, "birth_x") == 1.5 * std::exp2(-19));
  CHECK_THROWS_WITH_AS(refined_to(20), doctest::Contains("found a cell on level 20, expected none below level 19"),
                       Error);
  world = one_root_cell();
  world.value = [](const TreeCell&, auto&) { return not_a_number; };
  CHECK(run_tree(merge_tree_kind(), "{variable: t}", world, {true, true, true}, 1, self).tables.at(tree_file).rows() ==
        0);
}
