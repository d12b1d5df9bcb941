// Points that several blocks have, compared with a look at all points.
#include <doctest/doctest.h>
#include <mpi.h>

#include <map>
#include <random>

#include "base/mpi/communicator.hpp"
#include "server/redistribution/shared_points.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

TEST_CASE("of every number one point counts: the first in the lowest block that has it") {
  MpiCommunicator servers(testing::test_ranks());
  std::mt19937 random(23);  // the same on every server
  for (int round = 0; round < 20; ++round) {
    const std::size_t blocks = random() % 9;
    std::vector<std::vector<std::int64_t>> numbers(blocks);
    std::map<std::int64_t, std::pair<std::size_t, std::size_t>> first;  // block and index
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t count = random() % 30;
      for (std::size_t i = 0; i < count; ++i) {
        const auto number = static_cast<std::int64_t>(random() % 60) - 20;
        numbers[b].push_back(number);
        first.try_emplace(number, b, i);
      }
    }
    std::vector<BlockView> views;
    for (std::size_t b = 0; b < blocks; ++b) {
      if (static_cast<int>(b * 7 % 5) % servers.size() != servers.rank()) continue;
      BlockView view;
      view.block.id = static_cast<std::int64_t>(b);
      view.block.space = IndexSpace::list;
      view.points = list_box(static_cast<Index>(numbers[b].size()));
      view.array.data = numbers[b].data();
      view.array.type = Type::int64;
      view.array.box = view.points;
      views.push_back(view);
    }
    const auto flags = flag_shared(views, servers);
    REQUIRE(flags.size() == views.size());
    for (std::size_t v = 0; v < views.size(); ++v) {
      const auto b = static_cast<std::size_t>(views[v].block.id);
      REQUIRE(flags[v].size() == numbers[b].size());
      for (std::size_t i = 0; i < numbers[b].size(); ++i) {
        CHECK((flags[v][i] == 0) == (first.at(numbers[b][i]) == std::pair(b, i)));
      }
    }
  }
}
