// A disk that is full at every byte of a context, or flushes that fail, on one server after the other. All servers are
// told the same, committed contexts are not touched, and the next context is stored once there is room.
#include <doctest/doctest.h>

#include <cstdlib>

#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "storage/support/sample.hpp"
#include "storage/support/small_database.hpp"
#include "support/disk.hpp"
#include "support/ranks.hpp"
#include "support/test_all.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

struct Fixture {
  Fixture() { stay_in_memory(); }
  database::StoringOptions options(const std::string& directory) const {
    database::StoringOptions made;
    made.directory = directory;
    made.max_file_size = 1 << 20;
    made.show = false;
    return made;
  }

  /// The distance in bytes between two tries. `make test-all` tries each byte with one server. With several servers
  /// this takes minutes, and SIDESTREAM_FAULTS=all does it.
  [[nodiscard]] std::uint64_t step() const {
    const char* all = std::getenv("SIDESTREAM_FAULTS");
    if (all != nullptr && std::string(all) == "all") return 1;
    if (test_all()) return world.size() == 1 ? 1 : 13;
    return world.size() == 1 ? 29 : 419;
  }

  /// True if the texts are the same on all members. Collective.
  bool agreed(const std::string& text) {
    const std::vector<Bytes> all = world.all_gather(std::as_bytes(std::span(text)));
    return std::all_of(all.begin(), all.end(), [&](const Bytes& bytes) { return bytes == all.front(); });
  }

  /// Stores context 1 with a fault, then context 2 without. Returns true if the fault was met.
  bool try_once(const database::StoringOptions& with, int victim, const std::function<void()>& arm,
                const std::function<bool()>& met) {
    const SharedDirectory directory(world);
    database::StoringOptions chosen = with;
    chosen.directory = directory.path();
    const WatchedDisk disk(directory.path());
    bool failed = false;
    {
      SmallDatabase database(world, chosen);
      database.store(0);
      world.barrier();
      if (world.rank() == victim) arm();
      const std::string message = failure_of([&] { database.store(1); });
      std::int64_t was_met = world.rank() == victim && met() ? 1 : 0;
      world.maximum(std::span(&was_met, 1));
      failed = was_met > 0;
      REQUIRE(agreed(message));
      if (!failed) REQUIRE(message.empty());
      if (failed && !chosen.show && chosen.keep == 0) REQUIRE_FALSE(message.empty());
      WatchedDisk::set_endless_room();
      WatchedDisk::fail_flush(0);
      refused = !message.empty();
      database.store(2);
    }
    world.barrier();
    if (world.rank() == 0) look(directory.path(), chosen);
    world.barrier();
    return failed;
  }

  void look(const std::string& directory, const database::StoringOptions& with) const {
    const Findings findings = read_all(directory, SmallDatabase::blocks_of_all(world.size()));
    REQUIRE_FALSE(findings.wrong);
    INFO((findings.damages.empty() ? std::string() : findings.damages.front()));
    REQUIRE(findings.damaged.empty());
    REQUIRE(findings.whole.contains(2));
    if (with.keep == 0) REQUIRE(findings.whole.contains(0));
    if (!refused) REQUIRE((with.keep == 1 || findings.whole.contains(1)));
  }

  MpiCommunicator world{test_ranks()};
  bool refused = false;  ///< the last context 1
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a full disk at any byte fails the context on all, and nothing else") {
  for (const int contributors : {0, 1}) {
    database::StoringOptions with = options("");
    with.contributors_per_file = contributors;
    for (int victim = 0; victim < world.size(); ++victim) {
      CAPTURE(victim);
      std::uint64_t room = 0;
      // Tries until all of the context fits. A server that writes nothing never fails.
      for (; try_once(
               with, victim, [&] { WatchedDisk::set_room(room); }, [] { return WatchedDisk::was_full(); });) {
        room += step();
        CAPTURE(room);
        REQUIRE(room < 4096);
      }
      if (victim == 0) CHECK(room > 256);
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "a full disk with faces, files for HDF5 and removals") {
  for (const int keep : {0, 1}) {
    database::StoringOptions with = options("");
    with.show = true;
    with.keep = keep;
    std::uint64_t room = 0;
    while (try_once(
        with, 0, [&] { WatchedDisk::set_room(room); }, [] { return WatchedDisk::was_full(); })) {
      room += test_all() ? 149 : 743;
      REQUIRE(room < 100000);
    }
    CHECK(room > 8192);
  }
}

TEST_CASE_FIXTURE(Fixture, "flushes that fail") {
  for (int victim = 0; victim < world.size(); ++victim) {
    for (std::uint64_t flush = 1; flush < 8; ++flush) {
      CAPTURE(flush);
      database::StoringOptions with = options("");
      with.keep = 1;  // then the failure may be one of a removal, and not of the context
      try_once(
          with, victim, [&] { WatchedDisk::fail_flush(flush); }, [] { return true; });
    }
  }
}
