// The reader of a stream and the outcomes of steps: both sides in one process, and in processes that are killed.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "staging/folder.hpp"
#include "staging/writer_coordinator.hpp"
#include "support/scratch.hpp"

namespace fs = std::filesystem;
using namespace sidestream;
using namespace sidestream::staging;
using sidestream::testing::Scratch;

namespace {

StepIndex step(std::int64_t index, std::uint64_t session = 1) {
  StepIndex one;
  one.session = session;
  one.iteration.index = index;
  one.writers = 1;
  return one;
}

/// A process that does `work` and then waits to be killed.
template <class Work>
pid_t child(Work&& work) {
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const auto kept = work();
    static_cast<void>(write(ready[1], "x", 1));
    for (;;) pause();
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

void kill_child(pid_t pid) {
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

}  // namespace

TEST_CASE("a step goes to the reader and its answer comes back") {
  const Scratch scratch;
  const Folder folder(scratch.path);
  WriterCoordinator coordinator(folder, 1, 60);
  CHECK_FALSE(ReaderCoordinator(folder).find());
  coordinator.announce({{}, {"burst"}}, "files", 3);
  CHECK(coordinator.reader() == 0);
  ReaderCoordinator claim(folder);
  REQUIRE(claim.find());
  CHECK(claim.stream().writers == 3);
  CHECK(claim.announced().events == std::vector<std::string>{"burst"});
  REQUIRE(claim.take());
  CHECK(coordinator.reader() == claim.epoch());
  CHECK(claim.poll(-1) == ReaderCoordinator::News::nothing);
  coordinator.offer(step(4));
  REQUIRE(claim.poll(-1) == ReaderCoordinator::News::step);
  CHECK(claim.step_number() == 4);
  CHECK(coordinator.answer(4).outcome == Outcome::pending);
  CHECK(claim.answer(4, Outcome::failed, "it went\nwrong"));
  CHECK(coordinator.answer(4).outcome == Outcome::failed);
  CHECK(coordinator.answer(4).message == "it went\nwrong");
  CHECK_FALSE(coordinator.withdraw(4));
  coordinator.forget(4);
  CHECK(claim.poll(4) == ReaderCoordinator::News::nothing);
  coordinator.offer(step(5));
  CHECK(coordinator.withdraw(5));
  CHECK_FALSE(claim.answer(5, Outcome::delivered, ""));
}

TEST_CASE("of an answer and a withdrawal at the same moment exactly one counts") {
  const Scratch scratch;
  const Folder folder(scratch.path);
  WriterCoordinator coordinator(folder, 1, 60);
  coordinator.announce({{}, {}}, "files", 1);
  ReaderCoordinator claim(folder);
  REQUIRE(claim.find());
  REQUIRE(claim.take());
  int answers = 0;
  // The withdrawal comes later in each round. A slow machine needs more rounds until an answer comes first.
  for (std::int64_t index = 0; index < 200 || (answers == 0 && index < 2000); ++index) {
    coordinator.offer(step(index));
    std::atomic<int> at_start{0};
    bool answered = false, withdrawn = false;
    const auto together = [&at_start] {
      ++at_start;
      while (at_start < 2) std::this_thread::yield();
    };
    std::thread reader([&] {
      together();
      answered = claim.answer(index, Outcome::delivered, "");
    });
    together();
    std::this_thread::sleep_for(std::chrono::microseconds(2 * index));
    withdrawn = coordinator.withdraw(index);
    reader.join();
    CHECK(answered != withdrawn);
    CHECK((coordinator.answer(index).outcome == Outcome::delivered) == answered);
    answers += answered;
    coordinator.forget(index);
  }
  CHECK(answers > 0);
}

TEST_CASE("readers have growing epochs, leave, and are replaced; one that was given up finds out") {
  const Scratch scratch;
  const Folder folder(scratch.path);
  WriterCoordinator coordinator(folder, 1, 60);
  coordinator.announce({{}, {}}, "files", 1);
  {
    ReaderCoordinator first(folder);
    REQUIRE((first.find() && first.take()));
    CHECK(coordinator.reader() == 1);
  }
  CHECK(coordinator.reader() == 0);
  CHECK(coordinator.loss() == "it left");
  ReaderCoordinator second(folder);
  REQUIRE((second.find() && second.take()));
  CHECK(second.epoch() == 2);
  CHECK(coordinator.reader() == 2);
  fs::rename(folder.path("reader-2"), folder.path("gone-2"));  // as the writers do
  CHECK(second.poll(-1) == ReaderCoordinator::News::replaced);
  REQUIRE(second.take());
  CHECK(second.epoch() == 3);
}

TEST_CASE("of two that become the reader at the same moment one does, with its heartbeat") {
  for (int round = 0; round < 10; ++round) {
    const Scratch scratch;
    const Folder folder(scratch.path);
    WriterCoordinator coordinator(folder, 1, 60);
    coordinator.announce({{}, {}}, "files", 1);
    int done[2];
    REQUIRE(pipe(done) == 0);
    std::array<pid_t, 2> rivals{};
    for (pid_t& rival : rivals) {
      rival = fork();
      if (rival != 0) continue;
      ReaderCoordinator claim(folder);
      const bool found = claim.find();
      while (!fs::exists(folder.path("go"))) {
      }
      const bool took = found && claim.take();
      static_cast<void>(write(done[1], took ? "+" : "-", 1));
      for (;;) pause();
    }
    std::ofstream(folder.path("go")) << "now";
    std::array<char, 2> said{};
    for (char& one : said) REQUIRE(read(done[0], &one, 1) == 1);
    CHECK(std::count(said.begin(), said.end(), '+') == 1);
    CHECK(folder.numbers("reader-") == std::vector<std::int64_t>{1});
    CHECK(folder.numbers("beat-reader-") == std::vector<std::int64_t>{1});
    for (const pid_t rival : rivals) kill_child(rival);
    close(done[0]);
    close(done[1]);
  }
}

TEST_CASE("a reader that runs is not superseded; one that is out of reach is when it has been silent for the limit") {
  const Scratch scratch;
  const Folder folder(scratch.path);
  WriterCoordinator coordinator(folder, 1, 1);
  coordinator.announce({{}, {}}, "files", 1);
  ReaderCoordinator first(folder), second(folder);
  REQUIRE((first.find() && first.take()));
  fs::remove(folder.path("beat-reader-1"));  // as if its disk were slow
  REQUIRE(second.find());
  CHECK_FALSE(second.take());
  const std::string there = *folder.text("reader-1");
  std::ofstream(folder.path("reader-1")) << there.substr(0, there.find("process: ")) << "process: far boot space 1 2\n";
  CHECK_FALSE(second.take());
  while (!second.take()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(second.epoch() == 2);
  CHECK(first.poll(-1) == ReaderCoordinator::News::nothing);
  CHECK(coordinator.reader() == 2);
  // The first one is alive after all, and is told.
  CHECK(first.poll(-1) == ReaderCoordinator::News::replaced);
  CHECK_FALSE(first.take());
  CHECK(fs::exists(folder.path("gone-1")));
}

TEST_CASE("a simulation whose session ends without a stream says so, and one with a stream does not") {
  const Scratch scratch;
  const Folder folder(scratch.path);
  const OpeningWatch watch(folder);
  {
    const OpeningFile opening(folder);
    CHECK_FALSE(watch.has_ended());
    WriterCoordinator coordinator(folder, 1, 60);
    coordinator.announce({{}, {}}, "files", 1);
    CHECK_FALSE(fs::exists(folder.path("opening")));
  }
  CHECK_FALSE(watch.has_ended());
  { const OpeningFile opening(folder); }
  CHECK(watch.has_ended());
  CHECK_FALSE(OpeningWatch(folder).has_ended());  // it belongs to an earlier run
}

TEST_CASE("the death of a reader and of a writer on this machine is seen at once") {
  const Scratch scratch;
  const Folder folder(scratch.path);
  {
    WriterCoordinator coordinator(folder, 1, 1e9);
    coordinator.announce({{}, {}}, "files", 1);
    const pid_t reader = child([&] {
      auto claim = std::make_unique<ReaderCoordinator>(folder);
      if (!claim->find() || !claim->take()) raise(SIGKILL);
      return claim;
    });
    CHECK(coordinator.reader() == 1);
    kill(reader, SIGSTOP);
    CHECK(coordinator.reader() == 1);  // stopped is not dead
    kill_child(reader);
    CHECK(coordinator.reader() == 0);
    CHECK(coordinator.loss() == "its process has ended");
  }
  const pid_t writer = child([&] {
    auto coordinator = std::make_unique<WriterCoordinator>(folder, 2, 1e9);
    coordinator->announce({{}, {}}, "files", 1);
    return coordinator;
  });
  ReaderCoordinator claim(folder);
  REQUIRE((claim.find() && claim.take()));
  CHECK(claim.poll(-1) == ReaderCoordinator::News::nothing);
  kill_child(writer);
  CHECK(claim.poll(-1) == ReaderCoordinator::News::writer_died);
  CHECK_FALSE(ReaderCoordinator(folder).find());
}

TEST_CASE("silence counts as death, a long one only") {
  const Scratch scratch;
  const Folder folder(scratch.path);
  folder.put("beat", std::string_view("1"));
  HeartbeatMonitor monitor(folder, "beat", "elsewhere boot pid 1 2");
  CHECK(monitor.death(1e9).empty());
  CHECK(monitor.silent() >= 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK_FALSE(monitor.death(0.01).empty());
  folder.put("beat", std::string_view("2"));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(monitor.silent() < 0.25);
}

TEST_CASE("a writer that is killed at any moment leaves no half step") {
  const Scratch scratch;
  const Folder folder(scratch.path);
  StepIndex large = step(0);
  large.blocks.resize(20000);
  int seen = 0;
  // The death comes later in each round. A slow machine needs more rounds until a step is written before it.
  for (int round = 0; round < 60 || (seen == 0 && round < 300); ++round) {
    const pid_t busy = fork();
    if (busy == 0) {
      for (std::int64_t index = 0;; ++index) {
        large.iteration.index = index % 8;
        folder.put("step-" + std::to_string(index % 8), encode_step(large));
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(500 * round));
    kill_child(busy);
    for (const std::int64_t number : folder.numbers("step-")) {
      const StepIndex whole = decode_step(*folder.get("step-" + std::to_string(number)), "step");
      CHECK(whole.iteration.index == number);
      CHECK(whole.blocks.size() == 20000);
      ++seen;
    }
  }
  CHECK(seen > 0);
}
