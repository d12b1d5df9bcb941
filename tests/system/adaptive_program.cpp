// A simulation whose mesh adapts, for tests/system/test_adaptive.py. It publishes the octree "tree", and the equivalent
// patches "patch", with the same values, which change in every step. Rules determine the refined cells, and the client
// that has them. A block's tree has its leaves, their parents and the neighbours of these; block 1 is empty in odd
// steps. Each patch has the children of one cell; patches move between clients. Blocks of trees with even numbers
// declare bounds.
//
// adaptive_program FILE [blocks=N] [steps=N] [dimensions=2|3]
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

using sidestream::Bounds;
using sidestream::Box;
using sidestream::Index;
using sidestream::Index3;

namespace {

constexpr int deepest = 4;
constexpr std::array<Index, 3> all_roots{3, 2, 1};
constexpr std::array<double, 3> origin{-1, 0.5, 2}, spacing{2, 1, 1.5};

struct Cell {
  int level;
  Index3 index;
};

struct World {
  int dimensions = 3;
  long step = 0, blocks = 1;

  [[nodiscard]] Index3 roots() const { return {all_roots[0], all_roots[1], dimensions > 2 ? all_roots[2] : 1}; }
  [[nodiscard]] bool refined(const Cell& c) const {
    const Index sum = 3 * c.index[0] + 5 * c.index[1] + 7 * c.index[2] + c.level + step;
    return c.level < deepest && sum % (c.level + 2) == 0;
  }
  [[nodiscard]] std::vector<Cell> root_cells() const {
    std::vector<Cell> all;
    for (Index k = 0; k < roots()[2]; ++k) {
      for (Index j = 0; j < roots()[1]; ++j) {
        for (Index i = 0; i < roots()[0]; ++i) all.push_back({0, {i, j, k}});
      }
    }
    return all;
  }
  [[nodiscard]] std::vector<Cell> children(const Cell& of) const {
    std::vector<Cell> all;
    for (int n = 0; n < 1 << dimensions; ++n) {
      all.push_back(
          {of.level + 1, {2 * of.index[0] + (n & 1), 2 * of.index[1] + (n >> 1 & 1), 2 * of.index[2] + (n >> 2)}});
    }
    return all;
  }
  /// Values are whole numbers, so that sums are exact in any order.
  [[nodiscard]] double value(const Cell& c) const {
    const auto number = static_cast<double>(c.index[0] + 64 * (c.index[1] + 64 * c.index[2]));
    return number + 1000000.0 * c.level + 10000000.0 * static_cast<double>(step);
  }
  [[nodiscard]] long owner(const Cell& c) const {
    // The owner depends on the centre along x, so that blocks have useful bounds.
    const double share = (static_cast<double>(c.index[0]) + 0.5) / static_cast<double>(roots()[0] << c.level);
    const long block = std::min(blocks - 1, static_cast<long>(share * static_cast<double>(blocks)));
    return block == 1 && step % 2 == 1 ? 0 : block;
  }
  [[nodiscard]] bool has_leaf(const Cell& c, long block, Bounds& bounds) const {
    if (refined(c)) {
      bool any = false;
      for (const Cell& child : children(c)) any |= has_leaf(child, block, bounds);
      return any;
    }
    if (owner(c) != block) return false;
    for (std::size_t a = 0; a < 3; ++a) {
      const auto used = static_cast<int>(a) < dimensions;
      const double size = used ? spacing[a] / (1 << c.level) : 0,
                   low = used ? origin[a] + size * static_cast<double>(c.index[a]) : 0;
      bounds.low[a] = std::min(bounds.low[a], low);
      bounds.high[a] = std::max(bounds.high[a], low + size);
    }
    return true;
  }
};

/// The tree of a block.
struct Tree {
  std::vector<std::uint8_t> refined, owned;
  std::vector<double> values;
  Bounds bounds;
  Tree(const World& world, long block) {
    std::vector<Cell> cells = world.root_cells();
    Bounds all;
    bool any = false;
    for (const Cell& root : cells) any |= world.has_leaf(root, block, all);
    if (!any) return;
    bounds = all;
    for (std::size_t n = 0; n < cells.size(); ++n) {
      const Cell cell = cells[n];
      Bounds unused;
      const bool split = world.refined(cell) && world.has_leaf(cell, block, unused);
      const bool mine = !world.refined(cell) && world.owner(cell) == block;
      refined.push_back(split ? 1 : 0);
      owned.push_back(mine ? 1 : 0);
      values.push_back(mine ? world.value(cell) : -1);  // wrong on purpose
      if (!split) continue;
      for (const Cell& child : world.children(cell)) cells.push_back(child);
    }
  }
};

void publish_trees(sidestream::Session& session, const World& world, long rank, long size) {
  for (long block = rank; block < world.blocks; block += size) {
    const Tree tree(world, block);
    const auto cells = static_cast<Index>(tree.refined.size());
    session.set_block_list("tree", block, cells, {}, block % 2 == 0 ? tree.bounds : Bounds{});
    if (cells == 0) continue;
    session.publish("split", block, tree.refined);
    session.publish("mine", block, tree.owned);
    session.publish("t", block, tree.values);
  }
}

/// Patches by their numbers: the root cells are one patch, the children of each refined cell another.
std::vector<std::pair<long, std::vector<Cell>>> patches_of(const World& world) {
  std::vector<std::pair<long, std::vector<Cell>>> patches{{0, world.root_cells()}};
  for (std::size_t n = 0; n < patches.size(); ++n) {
    const std::vector<Cell> cells = patches[n].second;
    for (const Cell& cell : cells) {
      if (!world.refined(cell)) continue;
      const Index place = cell.index[0] + 64 * (cell.index[1] + 64 * cell.index[2]);
      patches.emplace_back(1 + place + (Index{cell.level} << 20), world.children(cell));
    }
  }
  return patches;
}

void publish_patches(sidestream::Session& session, const World& world, long rank, long size, std::set<long>& mine) {
  std::set<long> before = std::exchange(mine, {});
  const auto patches = patches_of(world);
  const auto is_mine = [&](long id) { return (id + world.step) % size == rank; };
  for (const auto& [id, cells] : patches) {
    if (is_mine(id)) mine.insert(id);
  }
  for (const long id : before) {
    if (mine.count(id) == 0) session.remove_block("patch", id);
  }
  for (const auto& [id, cells] : patches) {
    if (!is_mine(id)) continue;
    Box box{cells.front().index, cells.back().index};
    for (Index& end : box.hi) ++end;
    if (before.count(id) == 0) session.set_block("patch", id, box, cells.front().level);
    std::vector<double> values;
    for (const Cell& cell : cells) values.push_back(world.refined(cell) ? -1 : world.value(cell));
    session.publish("u", id, values);
  }
}

int run(int argc, char** argv, MPI_Comm comm) {
  World world;
  long steps = 2;
  for (int a = 2; a < argc; ++a) {
    const std::string argument = argv[a];
    const long number = std::atol(argument.c_str() + argument.find('=') + 1);
    if (argument.rfind("blocks=", 0) == 0) world.blocks = number;
    if (argument.rfind("steps=", 0) == 0) steps = number;
    if (argument.rfind("dimensions=", 0) == 0) world.dimensions = static_cast<int>(number);
  }
  sidestream::Session session = sidestream::Session::open(comm, argv[1]);
  if (session.is_server()) {
    session.serve();
    session.close();
    return 0;
  }
  int rank, size;
  MPI_Comm_rank(session.comm(), &rank);
  MPI_Comm_size(session.comm(), &size);
  session.start();
  std::set<long> mine;
  for (world.step = 0; world.step < steps; ++world.step) {
    publish_trees(session, world, rank, size);
    publish_patches(session, world, rank, size, mine);
    if (world.step % 2 == 0) session.signal("synchronised");  // as if levels had times of their own in odd steps
    session.end_iteration(world.step, static_cast<double>(world.step));
  }
  const sidestream::Account account = session.close();
  std::printf("account rank=%d delivered=%ld refused=%ld failed=%ld unknown=%ld absent=%ld\n", rank,
              static_cast<long>(account.delivered), static_cast<long>(account.refused),
              static_cast<long>(account.failed), static_cast<long>(account.unknown),
              static_cast<long>(account.absent_blocks));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  int status = 1;
  try {
    status = run_in_turn(argc, argv, run);
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    std::fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
