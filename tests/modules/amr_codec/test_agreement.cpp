// Servers of nodes with different modules.
#include <doctest/doctest.h>

#include "base/mpi/communicator.hpp"
#include "storage/codecs/pipeline.hpp"
#include "support/message_of.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

TEST_CASE("all servers have the codec, or none") {
  MpiCommunicator servers(testing::test_ranks());
  CHECK_NOTHROW(agree_on_tree_codec(servers, true));
  CHECK_NOTHROW(agree_on_tree_codec(servers, false));
  for (int odd = 0; odd < servers.size() && servers.size() > 1; ++odd) {
    for (const bool rest : {false, true}) {
      const std::string message =
          testing::message_of([&] { agree_on_tree_codec(servers, (servers.rank() == odd) != rest); });
      CHECK(testing::contains(message, "on some nodes and not on others"));
    }
  }
}
