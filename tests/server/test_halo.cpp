// Halos between blocks on any number of servers against a global array that every rank holds.
#include <doctest/doctest.h>
#include <mpi.h>

#include <cmath>
#include <vector>

#include "base/communicator.hpp"
#include "server/halo.hpp"
#include "support/fake_domain.hpp"

using namespace sidestream;

namespace {

double value(Index i, Index j, Index k, int c) { return static_cast<double>(i + 100 * j + 10000 * k) + 0.25 * c; }

/// Blocks of a 6 x 5 x 7 mesh in 3 x 2 x 3 pieces, round robin over the servers; block 4 is declared and never
/// delivered.
struct World {
  static constexpr std::int64_t absent = 4;
  std::vector<PlacedBlock> blocks;
  Variable variable;
  std::vector<std::vector<double>> memory;
  std::vector<BlockView> views;

  World(Centering centering, int rank, int size, const BlockTable*& table, BlockTable& storage) {
    variable.centering = centering;
    variable.components = 2;
    const Index ci[] = {0, 1, 4, 6}, cj[] = {0, 3, 5}, ck[] = {0, 2, 3, 7};
    std::int64_t id = 17;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 2; ++b) {
        for (int c = 0; c < 3; ++c) {
          PlacedBlock placed;
          placed.block.id = id--;
          placed.block.cells = Box{{ci[a], cj[b], ck[c]}, {ci[a + 1], cj[b + 1], ck[c + 1]}};
          placed.server = static_cast<std::int32_t>(placed.block.id % size);
          blocks.push_back(placed);
        }
      }
    }
    storage = BlockTable(blocks);
    table = &storage;
    for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) {
      if (it->server == rank && it->block.id != absent) add(it->block, *table);
    }
  }

  void add(const Block& block, const BlockTable& table) {
    const Box box = variable.points(block.cells);
    std::vector<double>& values = memory.emplace_back();
    for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
      for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
        for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
          for (int c = 0; c < 2; ++c) values.push_back(value(i, j, k, c));
        }
      }
    }
    BlockView view;
    view.block = block;
    view.points = box;
    view.owned = table.owned(variable, block);
    view.array = {values.data(), Type::float64, MemorySpace::host, box, 2, packed_strides(box, 2, Order::column)};
    views.push_back(std::move(view));
  }
};

}  // namespace

TEST_CASE("every point within the halo has its owner's value, and points nobody delivered are NaN") {
  MpiCommunicator servers(MPI_COMM_WORLD);
  for (const Centering centering : testing::every_centering) {
    for (const int width : {1, 2, 4}) {
      BlockTable storage;
      const BlockTable* table = nullptr;
      World world(centering, servers.rank(), servers.size(), table, storage);
      const auto memory = exchange_halos(*table, {{&world.variable, width, &world.views}}, servers);
      const Box domain = world.variable.points(Box{{0, 0, 0}, {6, 5, 7}});
      std::vector<Box> missing;  // points that the absent block owns
      for (const PlacedBlock& b : world.blocks) {
        if (b.block.id == World::absent) missing = table->owned(world.variable, b.block);
      }
      for (const BlockView& view : world.views) {
        const Box region = grown(view.points, width);
        std::vector<double> out(static_cast<std::size_t>(region.count()));
        view.gather(region, 1, out.data());
        std::size_t n = 0;
        for (Index k = region.lo[2]; k < region.hi[2]; ++k) {
          for (Index j = region.lo[1]; j < region.hi[1]; ++j) {
            for (Index i = region.lo[0]; i < region.hi[0]; ++i, ++n) {
              bool there = domain.contains(Index3{i, j, k});
              for (const Box& box : missing) there &= !box.contains(Index3{i, j, k});
              if (there) {
                REQUIRE(out[n] == value(i, j, k, 1));
              } else {
                REQUIRE(std::isnan(out[n]));
              }
            }
          }
        }
      }
    }
  }
}
