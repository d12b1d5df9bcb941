// Only one run at a time uses a directory, however many start together.
#include <doctest/doctest.h>

#include <atomic>
#include <fstream>

#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/support/sample.hpp"
#include "support/message_of.hpp"
#include "transport/processes.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

struct Fixture {
  MpiCommunicator self{MPI_COMM_SELF};
  SharedDirectory directory{self};
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a directory has one holder, who is named to others, and is free when that ends") {
  {
    const DirectoryLock held(directory / "made/here", ".run.lock");
    const std::string refusal = message_of([&] { DirectoryLock(directory / "made/here", ".run.lock"); });
    CHECK_MESSAGE(contains(refusal, "another run writes into the output directory"), refusal);
    CHECK(contains(refusal, "process " + std::to_string(::getpid()) + " on "));
    const DirectoryLock other(directory / "made/here", ".serve.lock");
  }
  CHECK(files_under(directory.path()).empty());
  const DirectoryLock again(directory / "made/here", ".run.lock");
}

TEST_CASE_FIXTURE(Fixture, "a killed holder holds nothing") {
  const test::SharedMemory shared(4096);
  auto& taken = shared.as<std::atomic<int>>();
  test::Child child([&] {
    const DirectoryLock held(directory.path(), ".run.lock");
    taken = 1;
    for (;;) test::sleep_us(1000);
    return 0;
  });
  while (taken == 0) test::sleep_us(200);
  CHECK(contains(message_of([&] { DirectoryLock(directory.path(), ".run.lock"); }),
                 "process " + std::to_string(child.pid())));
  child.kill();
  CHECK(std::filesystem::exists(directory / ".run.lock"));
  const DirectoryLock next(directory.path(), ".run.lock");
}

TEST_CASE_FIXTURE(Fixture, "a link of somebody else is not followed") {
  std::ofstream(directory / "target") << "precious";
  std::filesystem::create_symlink(directory / "target", directory / ".run.lock");
  CHECK(contains(message_of([&] { DirectoryLock(directory.path(), ".run.lock"); }), "cannot create"));
  CHECK(read_file(directory / "target") == "precious");
}

TEST_CASE_FIXTURE(Fixture, "of several that start together one gets the directory, every time") {
  constexpr int rounds = 150, starters = 6;
  struct Counts {
    std::atomic<int> ready, inside, most, won, lost;
  };
  const test::SharedMemory shared(sizeof(Counts) * rounds);
  {
    std::vector<std::unique_ptr<test::Child>> children;
    for (int c = 0; c < starters; ++c) {
      children.push_back(std::make_unique<test::Child>([&] {
        for (int round = 0; round < rounds; ++round) {
          auto& counts = shared.as<Counts>(sizeof(Counts) * static_cast<std::uint64_t>(round));
          ++counts.ready;
          while (counts.ready < starters) test::sleep_us(10);
          try {
            const DirectoryLock held(directory.path(), ".run.lock");
            const int inside = ++counts.inside;
            if (inside > counts.most) counts.most = inside;
            ++counts.won;
            while (counts.won + counts.lost < starters) test::sleep_us(50);
            --counts.inside;
          } catch (const Error&) {
            ++counts.lost;
          }
        }
        return 0;
      }));
    }
    for (const auto& child : children) CHECK(child->wait() == 0);
  }
  for (int round = 0; round < rounds; ++round) {
    auto& counts = shared.as<Counts>(sizeof(Counts) * static_cast<std::uint64_t>(round));
    CHECK(counts.most == 1);
    CHECK(counts.won == 1);
    CHECK(counts.lost == starters - 1);
  }
}
