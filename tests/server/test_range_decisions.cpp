// Blocks that parts need by their values. Servers decide on their own blocks, compared with a decision that knows all
// ranges.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <random>

#include "base/mpi/communicator.hpp"
#include "server/redistribution/block_assignment.hpp"
#include "server/redistribution/range_regions.hpp"
#include "sidestream/data/catalogue.hpp"
#include "support/fake_domain.hpp"
#include "support/ranks.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

Range random_range(std::mt19937& random) {
  const double low = static_cast<double>(random() % 100), width = static_cast<double>(random() % 6);
  return random() % 20 == 0 ? Range{} : Range{low, low + width};
}

/// Blocks of two levels at random places, some of them lists, on random servers, with independent ranges.
enum class Kind { plain, levels, tree };

struct World {
  World(unsigned seed, int servers, Kind kind = Kind::plain) {
    std::mt19937 random(seed);
    metadata.meshes.push_back({0, "grid", {{0, 0, 0}, {12, 12, 12}}, 3, nullptr});
    if (kind == Kind::levels) metadata.meshes[0].refinement = {{1, 1, 2}};
    if (kind == Kind::tree) {
      metadata.meshes[0].geometry =
          std::make_shared<OctreeGeometry>(Index3{1, 1, 1}, std::array{0.0, 0.0, 0.0}, std::array{1.0, 1.0, 1.0});
    }
    for (const Centering centering : every_centering) {
      Variable variable;
      variable.id = static_cast<std::int32_t>(metadata.variables.size());
      variable.mesh = 0;
      variable.centering = centering;
      metadata.variables.push_back(variable);
    }
    std::vector<PlacedBlock> placed;
    for (const Box& box : random_division({{0, 0, 0}, {12, 12, 12}}, 60 + random() % 40, seed)) {
      PlacedBlock one;
      one.block.id = static_cast<std::int64_t>(placed.size()) * 7 % 101;
      one.block.client = static_cast<std::int32_t>(random() % 23);
      one.block.level = random() % 9 == 0 ? 1 : 0;
      one.block.space = random() % 11 == 0 ? IndexSpace::list : IndexSpace::box;
      one.block.cells = box;
      if (kind == Kind::levels) one.block.space = IndexSpace::box;
      if (kind == Kind::tree) one.block.space = IndexSpace::list, one.block.level = 0;
      for (std::size_t a = 0; a < 3 && kind == Kind::tree && seed % 3 != 0; ++a) {
        one.block.bounds.low[a] = static_cast<double>(box.lo[a]);
        one.block.bounds.high[a] = static_cast<double>(box.hi[a]);
      }
      if (kind == Kind::tree) one.block.cells = list_box(box.count());
      one.server = one.block.client % servers;
      placed.push_back(one);
    }
    table = BlockTable(placed);
    for (const Block& block : table.blocks()) {
      for (const Variable& variable : metadata.variables) {
        if (random() % 13 == 0) continue;  // not delivered
        BlockRange range;
        range.block = block.id;
        range.variable = variable.id;
        range.all = random_range(random);
        for (Range& lowest : range.lowest) lowest = random_range(random);
        ranges.push_back(range);
      }
    }
  }
  [[nodiscard]] std::vector<BlockRange> ranges_of(int server) const {
    std::vector<BlockRange> mine;
    for (std::size_t b = 0; b < table.blocks().size(); ++b) {
      if (table.server(static_cast<std::int64_t>(b)) != server) continue;
      std::copy_if(ranges.begin(), ranges.end(), std::back_inserter(mine),
                   [&](const BlockRange& r) { return r.block == table.blocks()[b].id; });
    }
    return mine;
  }

  /// Random ranges of the parts of all blocks that count, for variable 0; adds those of one server to `mine`.
  std::vector<CountedRange> counted(int server, std::vector<CountedRange>& mine) const {
    std::vector<CountedRange> all;
    for (int s = 0; s < 5; ++s) {
      RangeRegions regions(metadata, s);
      const RangeRegions::Request request[] = {{{0, 0}, true}};
      const auto asked = regions.of(request, [&](std::int32_t) { return std::pair(std::size_t{0}, &table); });
      std::vector<Range> found;
      std::mt19937 random(static_cast<unsigned>(s) + 99);
      for (std::size_t n = 0; n < asked.size(); ++n) found.push_back(random_range(random));
      const std::vector<CountedRange> some = counted_ranges(asked, found);
      all.insert(all.end(), some.begin(), some.end());
      if (s == server) mine = some;
    }
    return all;
  }

  Metadata metadata;
  BlockTable table;
  std::vector<BlockRange> ranges;
};

/// Surfaces through few and many blocks, for every centring, and for a variable other than the one that is read. A
/// predicate also asks for a range.
std::vector<Selected> parts(const Metadata& metadata, double value) {
  std::vector<Selected> parts;
  for (const Variable& variable : metadata.variables) {
    parts.emplace_back(variable.id, 0, ValuesBracketed{{value}, {}});
    parts.emplace_back(0, 0, ValuesBracketed{{value, value + 10, value + 20}, {variable.id, 0}});
  }
  BlockPredicate predicate;
  predicate.needed = [value](const auto& block) { return block.range.empty() || block.range.minimum > value; };
  predicate.range = {3, 0};
  parts.emplace_back(0, 0, predicate);
  return parts;
}

}  // namespace

TEST_CASE("the servers that have the blocks decide what one that knows all ranges would") {
  MpiCommunicator servers(test_ranks());
  std::size_t needed = 0, all = 0;
  for (unsigned seed = 0; seed < 12; ++seed) {
    const World world(seed, servers.size());
    const Needs needs(world.metadata, world.table.blocks(), world.ranges);
    const std::vector<BlockRange> mine = world.ranges_of(servers.rank());
    // The last value needs no block, so that numbers are sent instead of bits.
    for (const double value : {1.0, 50.0, 200.0}) {
      const std::vector<Selected> asked = parts(world.metadata, value);
      const Decisions decided = decide_by_ranges(world.metadata, world.table, asked, {mine}, servers);
      REQUIRE(decided.size() == asked.size());
      for (std::size_t p = 0; p < asked.size(); ++p) {
        const std::vector<bool> expected = needs.of(asked[p]);
        REQUIRE_MESSAGE(decided[p] == expected, "part ", p, " of seed ", seed);
        needed += static_cast<std::size_t>(std::count(expected.begin(), expected.end(), true));
        all += expected.size();
      }
    }
  }
  CHECK(needed > all / 50);
  CHECK(needed < all / 2);
}

TEST_CASE("the same of patches on levels, and of trees") {
  MpiCommunicator servers(test_ranks());
  for (unsigned seed = 0; seed < 12; ++seed) {
    for (const Kind kind : {Kind::levels, Kind::tree}) {
      const World world(seed, servers.size(), kind);
      const std::vector<BlockRange> mine = world.ranges_of(servers.rank());
      std::vector<Selected> asked;
      for (const double value : {50.0, 99.0, 105.0, 200.0}) asked.emplace_back(0, 0, ValuesBracketed{{value}, {0, 0}});
      const Needs needs(world.metadata, world.table.blocks(), world.ranges);
      const Decisions decided = decide_by_ranges(world.metadata, world.table, asked, {mine}, servers);
      for (std::size_t p = 0; p < asked.size(); ++p) REQUIRE(decided[p] == needs.of(asked[p]));
      CHECK(std::count(decided[0].begin(), decided[0].end(), true) > 10);
      CHECK(std::count(decided[3].begin(), decided[3].end(), true) == 0);
    }
  }
}

TEST_CASE("the same if only cells that count matter") {
  MpiCommunicator servers(test_ranks());
  for (unsigned seed = 0; seed < 12; ++seed) {
    for (const Kind kind : {Kind::levels, Kind::tree}) {
      const World world(seed, servers.size(), kind);
      std::vector<CountedRange> mine;
      const std::vector<CountedRange> all = world.counted(servers.rank(), mine);
      const std::vector<BlockRange> ranges = world.ranges_of(servers.rank());
      std::vector<Selected> asked;
      for (const double value : {50.0, 99.0, 105.0, 200.0}) {
        asked.emplace_back(0, 0, ValuesBracketed{{value}, {0, 0}});
        asked.back().covered = false;
      }
      asked.push_back(asked[0]);
      asked.back().covered = true;
      const Needs needs(world.metadata, world.table.blocks(), world.ranges, all);
      const Decisions decided = decide_by_ranges(world.metadata, world.table, asked, {ranges, mine}, servers);
      for (std::size_t p = 0; p < asked.size(); ++p) REQUIRE(decided[p] == needs.of(asked[p]));
      CHECK(decided[0] != decided.back());
      CHECK(std::count(decided[0].begin(), decided[0].end(), true) > 3);
      CHECK(std::count(decided[3].begin(), decided[3].end(), true) == 0);
    }
  }
}

TEST_CASE("few blocks of many are told by their numbers") {
  MpiCommunicator servers(test_ranks());
  const World world(3, servers.size());
  const std::vector<Selected> asked{Selected(7, 0, ValuesBracketed{{102.0}, {}})};
  const std::vector<bool> expected = Needs(world.metadata, world.table.blocks(), world.ranges).of(asked[0]);
  const std::vector<BlockRange> mine = world.ranges_of(servers.rank());
  const Decisions decided = decide_by_ranges(world.metadata, world.table, asked, {mine}, servers);
  CHECK(decided.at(0) == expected);
  CHECK(std::count(expected.begin(), expected.end(), true) < 10);
}

TEST_CASE("a predicate that throws on one server throws on all") {
  MpiCommunicator servers(test_ranks());
  const World world(4, servers.size());
  BlockPredicate predicate;
  const int victim = servers.size() - 1;
  predicate.needed = [&](const auto&) -> bool {
    if (servers.rank() == victim) throw Error(Code::analysis, "no such block");
    return true;
  };
  predicate.range = {0, 0};
  const std::vector<Selected> asked{Selected(0, 0, predicate)};
  const std::vector<BlockRange> mine = world.ranges_of(servers.rank());
  CHECK_THROWS_WITH_AS(static_cast<void>(decide_by_ranges(world.metadata, world.table, asked, {mine}, servers)),
                       "no such block", Error);
}
