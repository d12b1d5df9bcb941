// All other members see a flag that one member raises, without waiting, and no message is left over.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/mpi/abort_flag.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

/// The member `raising` raises the flag, and the others see it within seconds. Then all settle.
void raise_one(MpiCommunicator& world, const std::vector<int>& members, int raising) {
  AbortFlag flag(world, members);
  const bool member = std::find(members.begin(), members.end(), world.rank()) != members.end();
  const bool other = member && world.rank() != raising;
  CHECK_FALSE(flag.is_raised());
  world.barrier();
  if (world.rank() == raising) {
    flag.raise();
    flag.raise();  // once is enough
  }
  const double began = MPI_Wtime();
  while (other && raising >= 0 && !flag.is_raised() && MPI_Wtime() - began < 20) {
  }
  CHECK(flag.is_raised() == (other && raising >= 0));
  flag.settle();
  CHECK(flag.is_raised() == (other && raising >= 0));
}

}  // namespace

TEST_CASE("a raised flag is seen by all other members and by nobody else") {
  MpiCommunicator world(testing::test_ranks());
  std::vector<int> all(static_cast<std::size_t>(world.size()));
  std::iota(all.begin(), all.end(), 0);
  for (int raising = -1; raising < world.size(); ++raising) raise_one(world, all, raising);
  if (world.size() < 3) return;
  const std::vector<int> ends{0, world.size() - 1};
  for (const int raising : {-1, 0, world.size() - 1}) raise_one(world, ends, raising);
}

TEST_CASE("members that all raise it see it") {
  MpiCommunicator world(testing::test_ranks());
  std::vector<int> all(static_cast<std::size_t>(world.size()));
  std::iota(all.begin(), all.end(), 0);
  AbortFlag flag(world, all);
  flag.raise();
  flag.settle();
  CHECK(flag.is_raised() == (world.size() > 1));
}
