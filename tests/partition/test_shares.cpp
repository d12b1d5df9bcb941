// Partitioners that give away whole blocks by their order, compared with dealing them out one by one.
#include "partition/kinds.hpp"
#include "partition/plans.hpp"
#include "partition/splitting.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const Box cube{{-2, 0, 3}, {14, 9, 20}};

/// Calls check(planned, servers) for every number of blocks and servers.
template <class Check>
void sweep(Check&& check) {
  unsigned seed = 1;
  for (const std::size_t count : block_counts) {
    const Planned planned(cube, count, ++seed);
    for (const int servers : server_counts) check(planned, servers);
  }
}

/// Deals out `count` blocks: each server gets its share, and the first (count mod servers) get one more.
std::vector<int> dealt(std::size_t count, int servers) {
  std::vector<int> result;
  for (int server = 0; server < servers; ++server) {
    std::size_t mine = count / static_cast<std::size_t>(servers);
    if (static_cast<std::size_t>(server) < count % static_cast<std::size_t>(servers)) ++mine;
    result.insert(result.end(), mine, server);
  }
  return result;
}

}  // namespace

TEST_CASE("shares: begin and part_of agree with dealing out") {
  for (std::int64_t count = 0; count < 40; ++count) {
    for (std::int64_t parts = 1; parts < 12; ++parts) {
      const Shares shares(count, parts);
      const auto expected = dealt(static_cast<std::size_t>(count), static_cast<int>(parts));
      for (std::int64_t n = 0; n < count; ++n) {
        CHECK(shares.part_of(n) == expected[static_cast<std::size_t>(n)]);
        CHECK((shares.begin(shares.part_of(n)) <= n && n < shares.end(shares.part_of(n))));
      }
      CHECK(shares.begin(0) == 0);
      CHECK(shares.end(parts - 1) == count);
    }
  }
}

TEST_CASE("block: contiguous equal shares") {
  sweep([](const Planned& planned, int servers) {
    check_plan(block_partitioner(), "{}", planned, servers);
    CHECK(servers_of(plan(block_partitioner(), "{}", planned, servers), planned) ==
          dealt(planned.blocks.size(), servers));
  });
}

TEST_CASE("stripe: dealt out in turn") {
  for (const std::size_t width : {1, 2, 3, 7, 100}) {
    const std::string yaml = "{width: " + std::to_string(width) + "}";
    sweep([&](const Planned& planned, int servers) {
      check_plan(stripe_partitioner(), yaml, planned, servers);
      std::vector<int> expected;
      for (int server = 0; expected.size() < planned.blocks.size(); server = (server + 1) % servers) {
        for (std::size_t n = 0; n < width && expected.size() < planned.blocks.size(); ++n) expected.push_back(server);
      }
      CHECK(servers_of(plan(stripe_partitioner(), yaml, planned, servers), planned) == expected);
    });
  }
  const Planned planned(cube, 24, 9);  // the width below is too large to be multiplied with an index
  check_plan(stripe_partitioner(), "{width: 9223372036854775807}", planned, 3);
  CHECK_THROWS_AS(plan(stripe_partitioner(), "{width: 0}", planned, 3), Error);
}

TEST_CASE("replicated: the next servers get copies") {
  for (const char* copies : {"1", "2", "3", "8", "100", "all"}) {
    const std::string yaml = std::string("{copies: ") + copies + "}";
    sweep([&](const Planned& planned, int servers) {
      check_plan(replicated_partitioner(), yaml, planned, servers);
      const Plan made = plan(replicated_partitioner(), yaml, planned, servers);
      const int wanted = std::min(servers, std::string(copies) == "all" ? servers : std::atoi(copies));
      const auto home = dealt(planned.blocks.size(), servers);
      std::set<std::tuple<std::int64_t, int, int>> expected, found;
      for (std::size_t b = 0; b < home.size(); ++b) {
        for (int n = 0; n < wanted; ++n) {
          expected.emplace(static_cast<std::int64_t>(b), (home[b] + n) % servers, n > 0 ? 1 : 0);
        }
      }
      for (const PlanPiece& piece : made.pieces) found.emplace(piece.block, piece.server, piece.copy);
      CHECK(found == expected);
      CHECK(made.pieces.size() == expected.size());
    });
  }
  const Planned planned(cube, 3, 1);
  for (const char* wrong : {"0", "-1", "some", "2.5", "''"}) {
    CHECK_THROWS_WITH_AS(plan(replicated_partitioner(), std::string("{copies: ") + wrong + "}", planned, 2),
                         doctest::Contains("expected a whole number from 1 or 'all'"), Error);
  }
}

TEST_CASE("slice and isosurface: the needed blocks, in equal shares") {
  sweep([](const Planned& planned, int servers) {
    const char* slice = "{origin: [1, 2, 3], normal: [0, 0, 2]}";
    check_plan(slice_partitioner(), slice, planned, servers);
    CHECK(servers_of(plan(slice_partitioner(), slice, planned, servers), planned) ==
          dealt(planned.blocks.size(), servers));
    check_plan(isosurface_partitioner(), "{variable: a, values: 1}", planned, servers);
  });
  const Planned planned(cube, 3, 1);
  const auto part = [&](const PartitionerKind& kind, const std::string& yaml) {
    return kind.restrict_to(settings_for(kind, yaml, planned.metadata), planned.metadata);
  };
  const Selected cut = part(slice_partitioner(), "{origin: [1, 2, 3], normal: [0, 0, 2]}");
  CHECK(cut.variable == 0);
  CHECK(cut.part.kind == Part::Kind::plane);
  CHECK(cut.part.plane.origin == std::array{1.0, 2.0, 3.0});
  CHECK(cut.part.plane.normal == std::array{0.0, 0.0, 2.0});
  const Selected surface = part(isosurface_partitioner(), "{variable: a, values: [4, 5]}");
  CHECK(surface.part.kind == Part::Kind::values);
  CHECK(surface.part.values.values == std::vector<double>{4, 5});
  CHECK(surface.part.values.of == RangeRequest{0, 0});
  CHECK_THROWS_WITH_AS(part(slice_partitioner(), "{origin: [1, 2, 3], normal: [0, 0, 0]}"),
                       doctest::Contains("test.yaml:1:29: found a normal without direction"), Error);
  CHECK_THROWS_WITH_AS(part(isosurface_partitioner(), "{variable: a, component: 1, values: 2}"),
                       doctest::Contains("found component 1 of the variable 'a', which has 1"), Error);
}
