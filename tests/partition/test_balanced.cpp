// `balanced` and `local`, compared with simple algorithms, and the bound of largest-first, compared with the best
// division.
#include "partition/kinds.hpp"
#include "partition/plans.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

const Box cube{{0, 0, 0}, {16, 16, 16}};

/// The lowest of the servers with the least load.
template <class Load>
int least(const std::vector<Load>& loads) {
  return static_cast<int>(std::min_element(loads.begin(), loads.end()) - loads.begin());
}

/// Largest-first, which looks at all servers for each block.
template <class Load>
std::vector<int> slowly(const std::vector<Load>& weights, int servers) {
  std::vector<int> result(weights.size(), -1);
  std::vector<Load> loads(static_cast<std::size_t>(servers));
  for (std::size_t done = 0; done < weights.size(); ++done) {
    std::size_t next = weights.size();
    for (std::size_t b = 0; b < weights.size(); ++b) {
      if (result[b] < 0 && (next == weights.size() || weights[b] > weights[next])) next = b;
    }
    result[next] = least(loads);
    loads[static_cast<std::size_t>(result[next])] += weights[next];
  }
  return result;
}

/// The load of the fullest server in the best division, found by trying all.
std::uint64_t best(const std::vector<std::uint64_t>& weights, std::vector<std::uint64_t>& loads, std::size_t at,
                   std::uint64_t known) {
  const std::uint64_t fullest = *std::max_element(loads.begin(), loads.end());
  if (fullest >= known || at == weights.size()) return std::min(fullest, known);
  for (std::size_t server = 0; server < loads.size(); ++server) {
    loads[server] += weights[at];
    known = best(weights, loads, at + 1, known);
    loads[server] -= weights[at];
    if (loads[server] == 0) break;  // all empty servers are alike
  }
  return known;
}

std::vector<std::uint64_t> bytes_of(const Planned& planned) {
  std::vector<std::uint64_t> result;
  for (const PlannedBlock& block : planned.blocks) result.push_back(block.bytes);
  return result;
}

}  // namespace

TEST_CASE("balanced by bytes: largest first, each to the least loaded") {
  unsigned seed = 3;
  for (const std::size_t count : block_counts) {
    const Planned planned(cube, count, ++seed);
    for (const int servers : server_counts) {
      check_plan(balanced_partitioner(), "{}", planned, servers);
      CHECK(servers_of(plan(balanced_partitioner(), "{}", planned, servers), planned) ==
            slowly(bytes_of(planned), servers));
    }
  }
}

TEST_CASE("balanced by cost: blocks without one count by their bytes at the mean price") {
  unsigned seed = 11;
  for (const std::size_t count : block_counts) {
    Planned planned(cube, count, ++seed);
    // Weights are powers of two, so that sums are exact in any order.
    for (std::size_t b = 0; b < planned.blocks.size(); ++b) {
      planned.blocks[b].bytes = std::uint64_t{1} << (b % 5 + 3);
      planned.blocks[b].cost = b % 3 == 0 ? 0 : 0.25 * static_cast<double>(planned.blocks[b].bytes);
    }
    std::vector<double> costs;
    const bool any = planned.blocks.size() > 1;
    for (const PlannedBlock& block : planned.blocks) {
      costs.push_back((any ? 0.25 : 1) * static_cast<double>(block.bytes));
    }
    for (const int servers : server_counts) {
      check_plan(balanced_partitioner(), "{by: cost}", planned, servers);
      CHECK(servers_of(plan(balanced_partitioner(), "{by: cost}", planned, servers), planned) ==
            slowly(costs, servers));
    }
  }
}

TEST_CASE("balanced: at most 4/3 - 1/(3 N) of the best of all divisions") {
  std::mt19937 random(5);
  double worst = 0;
  for (int round = 0; round < 300; ++round) {
    Planned planned(cube, 4 + random() % 6, random());
    for (PlannedBlock& block : planned.blocks) block.bytes = 1 + random() % 12;
    for (const int servers : {2, 3, 4}) {
      std::vector<std::uint64_t> loads(static_cast<std::size_t>(servers));
      const std::uint64_t optimum = best(bytes_of(planned), loads, 0, UINT64_MAX);
      std::fill(loads.begin(), loads.end(), 0);
      for (const PlanPiece& piece : plan(balanced_partitioner(), "{}", planned, servers).pieces) {
        loads[static_cast<std::size_t>(piece.server)] += planned.blocks[static_cast<std::size_t>(piece.block)].bytes;
      }
      const std::uint64_t fullest = *std::max_element(loads.begin(), loads.end());
      CHECK(3 * static_cast<std::uint64_t>(servers) * fullest <=
            (4 * static_cast<std::uint64_t>(servers) - 1) * optimum);
      worst = std::max(worst, static_cast<double>(fullest) / static_cast<double>(optimum));
    }
  }
  CHECK(worst > 1);  // the cases are hard enough for the bound to mean something
}

TEST_CASE("balanced: the classic case that reaches the bound") {
  // Graham's example for N servers has two jobs each of 2 N - 1 .. N + 1, and three of N.
  for (const int servers : {2, 3, 4, 7}) {
    Planned planned(cube);
    const auto add = [&](int bytes) {
      PlannedBlock block;
      block.block.id = static_cast<std::int64_t>(planned.blocks.size());
      block.block.cells = cube;
      block.bytes = static_cast<std::uint64_t>(bytes);
      planned.blocks.push_back(block);
    };
    for (int size = 2 * servers - 1; size > servers; --size) add(size), add(size);
    add(servers), add(servers), add(servers);
    std::vector<std::uint64_t> loads(static_cast<std::size_t>(servers));
    for (const PlanPiece& piece : plan(balanced_partitioner(), "{}", planned, servers).pieces) {
      loads[static_cast<std::size_t>(piece.server)] += planned.blocks[static_cast<std::size_t>(piece.block)].bytes;
    }
    CHECK(*std::max_element(loads.begin(), loads.end()) == static_cast<std::uint64_t>(4 * servers - 1));
  }
}

TEST_CASE("local: the nearest server, the others where there is least") {
  unsigned seed = 23;
  for (const std::size_t count : block_counts) {
    const Planned planned(cube, count, ++seed);
    for (const int servers : server_counts) {
      check_plan(local_partitioner(), "{}", planned, servers);
      std::vector<int> expected(count, -1);
      std::vector<std::uint64_t> loads(static_cast<std::size_t>(servers));
      for (const bool near : {true, false}) {
        for (std::size_t b = 0; b < count; ++b) {
          const PlannedBlock& block = planned.blocks[b];
          if ((block.near >= 0 && block.near < servers) != near) continue;
          expected[b] = near ? block.near : least(loads);
          loads[static_cast<std::size_t>(expected[b])] += block.bytes;
        }
      }
      CHECK(servers_of(plan(local_partitioner(), "{}", planned, servers), planned) == expected);
    }
  }
}
