// Work that fails anywhere on one member ends on all, with its sentence, and the group goes on.
#include <doctest/doctest.h>
#include <mpi.h>

#include <stdexcept>
#include <string>

#include "base/mpi/communicator.hpp"
#include "server/engine/guarded_communicator.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

TEST_CASE("what throws on one member before, between or after communications ends on all") {
  MpiCommunicator group(testing::test_ranks());
  GuardedCommunicator guarded(group);
  for (int victim = 0; victim < group.size(); ++victim) {
    for (int place = 0; place <= 3; ++place) {
      const auto perhaps = [&](int here) {
        if (group.rank() == victim && place == here) throw std::runtime_error("planned " + std::to_string(victim));
      };
      const std::string failure = guarded.attempt([&] {
        perhaps(0);
        std::int64_t sum = 1;
        guarded.sum(std::span(&sum, 1));
        perhaps(1);
        const Bytes mine(10);
        static_cast<void>(guarded.gather(mine, 0));
        perhaps(2);
      });
      CHECK(failure == (place == 3 ? "" : "planned " + std::to_string(victim)));
    }
  }
}

TEST_CASE("of several that throw the lowest is heard") {
  MpiCommunicator group(testing::test_ranks());
  GuardedCommunicator guarded(group);
  const std::string failure =
      guarded.attempt([&] { throw std::runtime_error("member " + std::to_string(group.rank())); });
  CHECK(failure == "member 0");
  CHECK(guarded.attempt([] { throw 42; }) == "an exception that is not a std::exception");
}

TEST_CASE("work that keeps what it is told to itself ends with the others") {
  MpiCommunicator group(testing::test_ranks());
  GuardedCommunicator guarded(group);
  const std::string failure = guarded.attempt([&] {
    if (group.rank() == 0) throw std::runtime_error("planned");
    try {
      guarded.barrier();
    } catch (const std::exception&) {
    }
    CHECK_THROWS(guarded.barrier());
  });
  CHECK(failure == "planned");
}
