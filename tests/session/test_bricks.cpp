// Made meshes in bricks: the same blocks, whatever parts the servers have.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "session/made/bricks.hpp"
#include "sidestream/kit/base/records.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

Box box_of(const Index3& size) { return {{0, 0, 0}, size}; }

Metadata metadata_of(const Index3& size) {
  Metadata metadata;
  Mesh mesh;
  mesh.id = 0;
  mesh.name = "m";
  mesh.cells = box_of(size);
  mesh.dimensions = 3;
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  metadata.meshes.push_back(mesh);
  for (const Centering centering : {Centering::cell, Centering::node}) {
    Variable variable;
    variable.id = static_cast<std::int32_t>(metadata.variables.size());
    variable.mesh = 0;
    variable.centering = centering;
    variable.components = centering == Centering::node ? 2 : 1;
    metadata.variables.push_back(variable);
  }
  return metadata;
}

/// Values that tell their point and component.
Bytes values_of(const Variable& variable, const Box& cells) {
  const Box box = variable.points(cells);
  std::vector<double> values;
  for (Index k = box.lo[2]; k < box.hi[2]; ++k) {
    for (Index j = box.lo[1]; j < box.hi[1]; ++j) {
      for (Index i = box.lo[0]; i < box.hi[0]; ++i) {
        for (int c = 0; c < variable.components; ++c)
          values.push_back(static_cast<double>(c + 10 * (i + 1000 * (j + 1000 * k))));
      }
    }
  }
  return bytes_of(values);
}

MadeBlock made(const Metadata& metadata, const Box& cells) {
  MadeBlock block;
  block.block.cells = cells;
  if (cells.empty()) return block;
  for (const Variable& variable : metadata.variables) block.arrays.push_back({variable.id, values_of(variable, cells)});
  return block;
}

}  // namespace

TEST_CASE("bricks have edges of a power of two, and divide the mesh") {
  struct Example {
    Index3 size;
    Index count;
    Index3 first;
  };
  for (const Example& one : {Example{{6, 6, 6}, 1, {6, 6, 6}}, Example{{40, 20, 24}, 12, {16, 16, 16}},
                             Example{{100, 100, 100}, 64, {32, 32, 32}}, Example{{4096, 4096, 1}, 64, {512, 512, 1}},
                             Example{{1024, 1024, 1024}, 512, {128, 128, 128}}, Example{{65, 1, 1}, 5, {16, 1, 1}}}) {
    const Bricks bricks(box_of(one.size));
    CHECK(bricks.count() == one.count);
    CHECK(bricks.cells(0) == box_of(one.first));
    Index cells = 0;
    for (Index n = 0; n < bricks.count(); ++n) {
      cells += bricks.cells(n).count();
      CHECK(bricks.touched_by(bricks.cells(n)) == std::vector<Index>{n});
    }
    CHECK(cells == box_of(one.size).count());
  }
}

TEST_CASE("parts of servers become whole bricks, with the values of cells and nodes") {
  auto servers = MpiCommunicator::over(testing::test_ranks());
  const Metadata metadata = metadata_of({40, 20, 24});
  const Bricks bricks(metadata.meshes[0].cells);
  const std::int64_t rank = servers->rank(), size = servers->size();
  for (int axis = 0; axis < 4; ++axis) {  // slabs along an axis; at last all on the last server
    Box cells = metadata.meshes[0].cells;
    const auto a = static_cast<std::size_t>(axis % 3);
    const Index extent = cells.hi[a];
    cells.lo[a] = axis < 3 ? extent * rank / size : rank + 1 < size ? extent : 0;
    cells.hi[a] = axis < 3 ? extent * (rank + 1) / size : extent;
    const auto mine = in_bricks(made(metadata, cells.empty() ? Box{} : cells), metadata.meshes[0], metadata, *servers);
    std::int64_t all[] = {static_cast<std::int64_t>(mine.size())};
    servers->sum(all);
    CHECK(all[0] == bricks.count());
    for (const MadeBlock& brick : mine) {
      CHECK(brick.block.cells == bricks.cells(brick.block.id));
      REQUIRE(brick.arrays.size() == 2);
      for (const MadeBlock::Array& array : brick.arrays) {
        const Variable& variable = metadata.variables[static_cast<std::size_t>(array.variable)];
        CHECK(array.values == values_of(variable, brick.block.cells));
      }
    }
  }
}

TEST_CASE("parts that do not fill the mesh stay where they are") {
  auto servers = MpiCommunicator::over(testing::test_ranks());
  const Metadata metadata = metadata_of({40, 20, 24});
  Box cells{{0, 0, servers->rank()}, {40, 20, servers->rank() + 1}};
  const auto mine = in_bricks(made(metadata, cells), metadata.meshes[0], metadata, *servers);
  REQUIRE(mine.size() == 1);
  CHECK(mine[0].block.id == servers->rank());
  CHECK(mine[0].block.cells == cells);
  CHECK(in_bricks({}, metadata.meshes[0], metadata, *servers).empty());
}
