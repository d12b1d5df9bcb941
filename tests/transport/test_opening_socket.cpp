// Waiting servers learn that a simulation has gone before it accepted them, whoever comes first.
#include "transport/shared_memory/sidecar/attach_protocol.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "sidestream/kit/base/waiting.hpp"

using namespace sidestream::shared_memory;

namespace {

std::string session_name(const char* what) { return "sidestream-test-" + std::to_string(getpid()) + what; }

/// Waits for the end, because the kernel may take a moment to end a connection of another process.
bool ends(OpeningWatch& watch) {
  const double end = sidestream::now() + 20;
  while (sidestream::now() < end) {
    if (watch.has_ended()) return true;
    usleep(1000);
  }
  return false;
}

}  // namespace

TEST_CASE("nobody comes") {
  OpeningWatch watch(session_name("nobody"));
  for (int n = 0; n < 10; ++n) CHECK(!watch.has_ended());
}

TEST_CASE("servers come first, and the simulation is gone before they look") {
  OpeningWatch watch(session_name("first"));
  CHECK(!watch.has_ended());
  { const OpeningSocket simulation(session_name("first")); }
  CHECK(ends(watch));
  // The next simulation is a new one, which has not ended.
  CHECK(!watch.has_ended());
  auto simulation = std::make_unique<OpeningSocket>(session_name("first"));
  CHECK(!watch.has_ended());
  simulation.reset();
  CHECK(ends(watch));
}

TEST_CASE("the simulation comes first") {
  auto simulation = std::make_unique<OpeningSocket>(session_name("late"));
  OpeningWatch one(session_name("late")), other(session_name("late"));  // several servers of a node
  CHECK(!one.has_ended());
  CHECK(!other.has_ended());
  simulation.reset();
  CHECK(ends(one));
  CHECK(ends(other));
}

TEST_CASE("a simulation that is killed has gone") {
  const std::string name = session_name("killed");
  OpeningWatch watch(name);
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const OpeningSocket simulation(name);
    [[maybe_unused]] const auto written = write(ready[1], "x", 1);
    for (;;) pause();
  }
  REQUIRE(child > 0);
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK(!watch.has_ended());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK(ends(watch));
  close(ready[0]);
  close(ready[1]);
}
