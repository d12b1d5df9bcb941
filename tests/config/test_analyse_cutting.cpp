// The parts into which `sidestream analyse` cuts blocks of files, and the processes that get them.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "analyse/merging.hpp"

using namespace sidestream;
using analysing::cut;
using analysing::Piece;
using analysing::shares;

namespace {

Metadata one_mesh(std::vector<Index3> refinement = {}) {
  Metadata metadata;
  Mesh mesh;
  mesh.id = 0;
  mesh.name = "grid";
  mesh.geometry = std::make_shared<UniformGeometry>(std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
  mesh.refinement = std::move(refinement);
  metadata.meshes.push_back(std::move(mesh));
  return metadata;
}

Block box(std::int64_t id, Box cells, std::int32_t level = 0) {
  Block block;
  block.id = id;
  block.level = level;
  block.cells = cells;
  return block;
}

bool overlap(const Box& a, const Box& b) {
  for (std::size_t n = 0; n < 3; ++n) {
    if (a.hi[n] <= b.lo[n] || b.hi[n] <= a.lo[n]) return false;
  }
  return true;
}

/// Checks that the parts of each stored block lie in it, do not overlap, and have all its cells.
void check_tiling(const std::vector<Block>& stored, const std::vector<Piece>& pieces) {
  std::map<std::size_t, Index> cells;
  std::map<std::int64_t, int> ids;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    const Piece& piece = pieces[n];
    CHECK(stored[piece.stored].cells.contains(piece.block.cells));
    CHECK(piece.block.level == stored[piece.stored].level);
    CHECK_FALSE(piece.block.cells.empty());
    cells[piece.stored] += piece.block.cells.count();
    CHECK(++ids[piece.block.id] == 1);
    for (std::size_t m = 0; m < n; ++m) {
      if (pieces[m].stored == piece.stored) CHECK_FALSE(overlap(pieces[m].block.cells, piece.block.cells));
    }
  }
  for (std::size_t n = 0; n < stored.size(); ++n) CHECK(cells[n] == stored[n].cells.count());
}

}  // namespace

TEST_CASE("small blocks stay, with the ids of the file") {
  const std::vector<Block> stored{box(7, {{0, 0, 0}, {32, 32, 32}}), box(3, {{32, 0, 0}, {64, 32, 32}})};
  const std::vector<Piece> pieces = cut(stored, one_mesh());
  REQUIRE(pieces.size() == 2);
  CHECK(pieces[0].block.id == 3);
  CHECK(pieces[0].stored == 1);
  CHECK(pieces[1].block.id == 7);
}

TEST_CASE("large blocks are cut, and tiled by their parts") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 40; ++round) {
    const int dimensions = 1 + round % 3;
    std::vector<Block> stored;
    Index x = 0;
    for (int n = 0; n < 3; ++n) {
      Box cells{{x, 0, 0}, {x, 1, 1}};
      const Index most[] = {1 << 20, 1 << 10, 100};
      for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions); ++a) {
        cells.hi[a] = cells.lo[a] + 1 + static_cast<Index>(random() % static_cast<std::uint64_t>(most[dimensions - 1]));
      }
      x = cells.hi[0];
      stored.push_back(box(n, cells));
    }
    const std::vector<Piece> pieces = cut(stored, one_mesh());
    check_tiling(stored, pieces);
    Index all = 0;
    for (const Block& block : stored) all += block.cells.count();
    for (const Piece& piece : pieces) CHECK(piece.block.cells.count() <= std::max<Index>(Index{1} << 15, all / 256));
  }
}

TEST_CASE("on finer levels blocks are cut where coarse cells end") {
  const std::vector<Block> stored{box(0, {{0, 0, 0}, {64, 64, 64}}),
                                  box(1, {{4, 8, 12}, {4 + 92, 8 + 60, 12 + 116}}, 1)};
  const std::vector<Piece> pieces = cut(stored, one_mesh({{4, 2, 2}}));
  check_tiling(stored, pieces);
  CHECK(pieces.size() > 10);
  for (const Piece& piece : pieces) {
    if (piece.block.level == 0) continue;
    CHECK(piece.block.cells.lo[0] % 4 == 0);
    CHECK(piece.block.cells.lo[1] % 2 == 0);
    CHECK(piece.block.cells.hi[2] % 2 == 0);
  }
}

TEST_CASE("every rank gets about as many bytes as others, in a row") {
  const std::vector<Piece> pieces = cut({box(0, {{0, 0, 0}, {256, 256, 128}})}, one_mesh());
  const std::vector<std::uint64_t> bytes(pieces.size(), 1000);
  for (const int ranks : {1, 2, 3, 5, 8, 100}) {
    const std::vector<int> owner = shares(pieces, bytes, ranks);
    std::vector<std::size_t> count(static_cast<std::size_t>(ranks));
    for (std::size_t n = 0; n < owner.size(); ++n) {
      if (n > 0) CHECK(owner[n] >= owner[n - 1]);
      ++count[static_cast<std::size_t>(owner[n])];
    }
    const std::size_t fair = pieces.size() / static_cast<std::size_t>(ranks);
    for (const std::size_t one : count) {
      CHECK(one >= fair);
      CHECK(one <= fair + 1);
    }
  }
}

TEST_CASE("blocks of which nothing is read have owners too") {
  const std::vector<Piece> pieces = cut({box(0, {{0, 0, 0}, {64, 64, 64}})}, one_mesh());
  for (const int owner : shares(pieces, std::vector<std::uint64_t>(pieces.size()), 3)) {
    CHECK(owner >= 0);
    CHECK(owner < 3);
  }
}
