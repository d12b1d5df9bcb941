// Blocks that move because others are absent: only coarser ones that these cover.
#include "server/redistribution/absent_blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "support/fake_domain.hpp"

using namespace sidestream;

namespace {

Metadata declared() {
  Mesh mesh;
  mesh.name = "m";
  mesh.cells = {{0, 0, 0}, {12, 4, 4}};
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  mesh.refinement = {{2, 2, 2}};
  Metadata metadata{{mesh}, {}};
  for (const char* name : {"t", "u", "never"}) {
    Variable variable;
    variable.name = name;
    variable.mesh = 0;
    variable.id = static_cast<std::int32_t>(metadata.variables.size());
    metadata.variables.push_back(variable);
  }
  return metadata;
}

PlacedBlock block(std::int64_t id, std::int32_t level, Index from) {
  PlacedBlock placed;
  placed.block.id = id;
  placed.block.level = level;
  const Index n = level == 0 ? 4 : 8;
  placed.block.cells = {{from, 0, 0}, {from + n, n, n}};
  return placed;
}

/// Three coarse blocks, 0 to 2; the fine block 3 covers 0, and 4 covers 1.
BlockTable covered_blocks() {
  return BlockTable({block(3, 1, 0), block(0, 0, 0), block(2, 0, 8), block(4, 1, 8), block(1, 0, 4)});
}

/// Ids of the blocks that do not move for a variable.
std::vector<std::int64_t> left_out(const AbsentBlocks& absent, const BlockTable& table, const Metadata& metadata,
                                   std::int32_t variable) {
  std::vector<bool> covered = table.wholly_covered(metadata);
  if (absent.set_of(variable) != 0) absent.clear_covered(absent.set_of(variable), covered);
  std::vector<std::int64_t> ids;
  for (std::size_t b = 0; b < covered.size(); ++b) {
    if (covered[b]) ids.push_back(table.blocks()[b].id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

using Ids = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("blocks under an absent one move, for the variables that are absent there alone") {
  const Metadata metadata = declared();
  const BlockTable table = covered_blocks();
  MpiCommunicator self(MPI_COMM_SELF);
  AbsentBlocks absent(metadata);
  const auto all = [](std::int32_t) { return true; };
  absent.gather({{0, 0, 4}, {1, 0, 0}}, self);
  CHECK(absent.settle(table, all));
  CHECK(left_out(absent, table, metadata, 0) == Ids{0});
  CHECK(left_out(absent, table, metadata, 1) == Ids{0, 1});  // the absent one is the coarse one
  CHECK(left_out(absent, table, metadata, 2) == Ids{0, 1});
  absent.gather({{0, 0, 3}, {0, 0, 4}}, self);
  CHECK(absent.settle(table, all));
  CHECK(left_out(absent, table, metadata, 0).empty());
}

TEST_CASE("a variable that nobody published uncovers nothing") {
  const Metadata metadata = declared();
  const BlockTable table = covered_blocks();
  MpiCommunicator self(MPI_COMM_SELF);
  AbsentBlocks absent(metadata);
  absent.gather({{2, 5, 0}}, self);
  CHECK(!absent.settle(table, [](std::int32_t variable) { return variable != 2; }));
  CHECK(!absent.none());
  for (std::int32_t variable = 0; variable < 3; ++variable) {
    CHECK(left_out(absent, table, metadata, variable) == Ids{0, 1});
  }
}
