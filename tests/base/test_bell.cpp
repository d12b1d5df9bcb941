// Words that members leave for each other while nobody waits: heard by all the others, and none is left behind.
#include <doctest/doctest.h>
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/mpi/abort_flag.hpp"
#include "support/ranks.hpp"

using namespace sidestream;

namespace {

/// `ringing` of the members rings; the others hear it within seconds. Then all settle.
void ring_one(MpiCommunicator& world, const std::vector<int>& members, int ringing) {
  AbortFlag bell(world, members);
  const bool member = std::find(members.begin(), members.end(), world.rank()) != members.end();
  const bool other = member && world.rank() != ringing;
  CHECK_FALSE(bell.heard());
  world.barrier();
  if (world.rank() == ringing) {
    bell.ring();
    bell.ring();  // once is enough
  }
  const double began = MPI_Wtime();
  while (other && ringing >= 0 && !bell.heard() && MPI_Wtime() - began < 20) {
  }
  CHECK(bell.heard() == (other && ringing >= 0));
  bell.settle();
  CHECK(bell.heard() == (other && ringing >= 0));
}

}  // namespace

TEST_CASE("a bell is heard by all other members, and by nobody else") {
  MpiCommunicator world(testing::test_ranks());
  std::vector<int> all(static_cast<std::size_t>(world.size()));
  std::iota(all.begin(), all.end(), 0);
  for (int ringing = -1; ringing < world.size(); ++ringing) ring_one(world, all, ringing);
  if (world.size() < 3) return;
  const std::vector<int> ends{0, world.size() - 1};
  for (const int ringing : {-1, 0, world.size() - 1}) ring_one(world, ends, ringing);
}

TEST_CASE("members that all ring hear each other") {
  MpiCommunicator world(testing::test_ranks());
  std::vector<int> all(static_cast<std::size_t>(world.size()));
  std::iota(all.begin(), all.end(), 0);
  AbortFlag bell(world, all);
  bell.ring();
  bell.settle();
  CHECK(bell.heard() == (world.size() > 1));
}
