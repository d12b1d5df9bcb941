// `regrid`, compared with a search through every server for every cell.
#include "partition/kinds.hpp"
#include "partition/plans.hpp"
#include "partition/splitting.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const char* const shapes[] = {"{shape: slabs}",   "{shape: slabs, axis: x}",
                              "{shape: pencils}", "{shape: pencils, axis: y}",
                              "{shape: bricks}",  "{}"};

/// The server of each cell, from the boxes of `parts_of`, found by counting cells one by one.
std::map<Index3, int> server_of_cells(const Box& cells, const std::array<std::int64_t, 3>& parts) {
  std::array<std::vector<std::int64_t>, 3> part;
  for (int a = 0; a < 3; ++a) {
    for (std::int64_t p = 0; p < parts[a]; ++p) {
      const Index share = cells.extent(a) / parts[a] + (p < cells.extent(a) % parts[a] ? 1 : 0);
      part[a].insert(part[a].end(), static_cast<std::size_t>(share), p);
    }
  }
  std::map<Index3, int> result;
  for (Index k = 0; k < cells.extent(2); ++k) {
    for (Index j = 0; j < cells.extent(1); ++j) {
      for (Index i = 0; i < cells.extent(0); ++i) {
        const std::int64_t x = part[0][i], y = part[1][j], z = part[2][k];
        result[{i + cells.lo[0], j + cells.lo[1], k + cells.lo[2]}] =
            static_cast<int>((z * parts[1] + y) * parts[0] + x);
      }
    }
  }
  return result;
}

/// Checks that every cell of every piece belongs to its server, on a level that is `ratio` times finer.
void check_cells(const Plan& made, const std::map<Index3, int>& expected, const Index3& ratio) {
  for (const PlanPiece& piece : made.pieces) {
    for (Index k = piece.cells.lo[2]; k < piece.cells.hi[2]; ++k) {
      for (Index j = piece.cells.lo[1]; j < piece.cells.hi[1]; ++j) {
        for (Index i = piece.cells.lo[0]; i < piece.cells.hi[0]; ++i) {
          const auto down = [](Index x, Index r) { return x >= 0 ? x / r : -((-x + r - 1) / r); };
          if (expected.at({down(i, ratio[0]), down(j, ratio[1]), down(k, ratio[2])}) != piece.server) {
            FAIL_CHECK("cell " << i << ' ' << j << ' ' << k << " went to " << piece.server);
          }
        }
      }
    }
  }
}

std::array<std::int64_t, 3> parts_for(const std::string& yaml, int servers, const Box& cells) {
  const bool pencils = yaml.find("pencils") != std::string::npos, bricks = yaml.find("bricks") != std::string::npos;
  const auto axis = yaml.find("axis: ");
  const int number = axis == std::string::npos ? (pencils || bricks ? 0 : 2) : yaml[axis + 6] - 'x';
  return parts_of(pencils ? Shape::pencils : bricks ? Shape::bricks : Shape::slabs, number, servers, cells);
}

}  // namespace

TEST_CASE("regrid: each cell to the server of its box, each exactly once") {
  unsigned seed = 31;
  for (const Box& cells : {Box{{0, 0, 0}, {12, 9, 7}}, Box{{-5, 2, -3}, {6, 10, 2}}, Box{{0, 0, 0}, {3, 1, 2}}}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{33}}) {
      if (static_cast<Index>(count) > cells.count()) continue;
      const Planned planned(cells, count, ++seed);
      for (const int servers : {1, 2, 3, 5, 8, 12}) {
        for (const char* yaml : shapes) {
          CAPTURE(yaml);
          check_plan(regrid_partitioner(), yaml, planned, servers);
          check_cells(plan(regrid_partitioner(), yaml, planned, servers),
                      server_of_cells(cells, parts_for(yaml, servers, cells)), {1, 1, 1});
        }
      }
    }
  }
}

TEST_CASE("regrid: finer levels are cut where the coarsest is") {
  const Box cells{{-2, 0, 0}, {6, 6, 4}};
  Planned planned(cells, 6, 1);
  planned.metadata.meshes[0].refinement = {{2, 2, 1}, {2, 3, 2}};
  const Index3 ratio{4, 6, 2};
  for (PlannedBlock& block : planned.blocks) {
    block.block.level = 2;
    for (int a = 0; a < 3; ++a) {
      block.block.cells.lo[a] *= ratio[a];
      block.block.cells.hi[a] *= ratio[a];
    }
  }
  for (const int servers : server_counts) {
    for (const char* yaml : shapes) {
      check_plan(regrid_partitioner(), yaml, planned, servers);
      check_cells(plan(regrid_partitioner(), yaml, planned, servers),
                  server_of_cells(cells, parts_for(yaml, servers, cells)), ratio);
    }
  }
  planned.metadata.meshes[0].refinement.pop_back();
  CHECK_THROWS_WITH_AS(plan(regrid_partitioner(), "{}", planned, 2), doctest::Contains("add 'refinement' to the mesh"),
                       Error);
}

TEST_CASE("parts: as many boxes as servers, the largest as small as can be") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Box cells{{0, 0, 0},
                    {1 + static_cast<Index>(random() % 40), 1 + static_cast<Index>(random() % 40),
                     1 + static_cast<Index>(random() % 40)}};
    const std::int64_t servers = 1 + static_cast<std::int64_t>(random() % 60);
    const auto largest = [&](const std::array<std::int64_t, 3>& parts) {
      Index volume = 1;
      for (int a = 0; a < 3; ++a) volume *= (cells.hi[a] + parts[a] - 1) / parts[a];
      return volume;
    };
    const auto found = parts_of(Shape::bricks, 0, servers, cells);
    CHECK(found[0] * found[1] * found[2] == servers);
    for (std::int64_t x = 1; x <= servers; ++x) {
      for (std::int64_t y = 1; y <= servers / x; ++y) {
        if (x * y * (servers / x / y) == servers) CHECK(largest(found) <= largest({x, y, servers / x / y}));
      }
    }
    const auto pencils = parts_of(Shape::pencils, 1, servers, cells);
    CHECK(pencils[1] == 1);
    CHECK(pencils[0] * pencils[2] == servers);
    CHECK(parts_of(Shape::slabs, 2, servers, cells) == std::array<std::int64_t, 3>{1, 1, servers});
  }
}

TEST_CASE("regrid: an axis does not go with bricks") {
  const Planned planned(Box{{0, 0, 0}, {4, 4, 4}}, 2, 1);
  CHECK_THROWS_WITH_AS(plan(regrid_partitioner(), "{shape: bricks, axis: x}", planned, 2),
                       doctest::Contains("found 'axis' for bricks"), Error);
}
