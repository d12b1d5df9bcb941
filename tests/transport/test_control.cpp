#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "transport/processes.hpp"
#include "transport/shared_memory/control.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
using namespace std::chrono_literals;
using test::Child;
using test::SharedMemory;
using test::sleep_us;

TEST_CASE("nothing in the control memory overlaps, whatever the counts") {
  for (const std::uint32_t clients : {0u, 1u, 5u, 64u}) {
    for (const std::uint32_t servers : {1u, 3u}) {
      const ControlLayout layout = control_layout(clients, servers, 100, 200, 1 << 20);
      CHECK(layout.ring_capacity == 128);
      SharedMemory memory(layout.bytes);
      std::vector<std::pair<std::byte*, std::uint64_t>> pieces;
      for (std::uint32_t n = 0; n < servers; ++n) {
        pieces.emplace_back(reinterpret_cast<std::byte*>(&layout.server(memory.data(), n)), sizeof(ServerControl));
      }
      for (std::uint32_t n = 0; n < clients; ++n) {
        pieces.emplace_back(reinterpret_cast<std::byte*>(&layout.client(memory.data(), n)), sizeof(ClientControl));
        pieces.emplace_back(layout.ring(memory.data(), n), sizeof(RingIndices) + 128 * 200);
        pieces.emplace_back(layout.notices(memory.data(), n), ring_bytes<MessageLine>(notice_lines));
      }
      std::sort(pieces.begin(), pieces.end());
      CHECK(pieces.back().first + pieces.back().second <= memory.data() + layout.bytes);
      for (std::size_t n = 0; n < pieces.size(); ++n) {
        CHECK(reinterpret_cast<std::uintptr_t>(pieces[n].first) % 128 == 0);
        if (n > 0) CHECK(pieces[n - 1].first + pieces[n - 1].second <= pieces[n].first);
      }
    }
  }
}

TEST_CASE("the layout hash differs if anything that both sides must agree on does") {
  std::set<std::uint64_t> hashes;
  const auto add = [&](const ControlLayout& layout) { hashes.insert(layout.hash); };
  add(control_layout(3, 1, 64, 200, 1000));
  add(control_layout(4, 1, 64, 200, 1000));
  add(control_layout(3, 2, 64, 200, 1000));
  add(control_layout(3, 1, 128, 200, 1000));
  add(control_layout(3, 1, 64, 208, 1000));
  add(control_layout(3, 1, 64, 200, 1001));
  CHECK(hashes.size() == 6);
  CHECK(control_layout(3, 1, 64, 200, 1000).hash == *hashes.find(control_layout(3, 1, 50, 200, 1000).hash));
}

TEST_CASE("a notice holds the last text, cut between characters") {
  StatusText notice;
  CHECK(notice.read().empty());
  CHECK(notice.version() == 0);
  for (const std::string& text :
       {std::string("short"), std::string("a longer one"), std::string(), std::string(StatusText::capacity, 'x')}) {
    const auto before = notice.version();
    notice.post(text);
    CHECK(notice.read() == text);
    CHECK(notice.version() != before);
  }
  std::string accents;
  while (accents.size() < 2 * StatusText::capacity) accents += "€";  // each has three bytes
  notice.post(accents);
  CHECK(notice.read() == accents.substr(0, StatusText::capacity / 3 * 3));
}

TEST_CASE("a notice is read whole while it changes") {
  static StatusText notice;
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (unsigned n = 1; !stop; ++n) {
      notice.post(std::string(1 + n % 900, static_cast<char>('a' + n % 26)));
      if (n % 64 == 0) std::this_thread::yield();
    }
  });
  int torn = 0;
  for (int seen = 0; seen < 5000;) {
    const std::string text = notice.read();
    if (text.empty()) std::this_thread::yield();  // the writer was interrupted while it wrote
    seen += !text.empty();
    torn += !text.empty() && text.find_first_not_of(text[0]) != std::string::npos;
  }
  stop = true;
  writer.join();
  CHECK(torn == 0);
}

TEST_CASE("a writer killed while posting leaves nothing half read, and the next post is read") {
  SharedMemory memory(4096);
  auto& notice = memory.as<StatusText>();
  int interrupted = 0;
  for (int kills = 0; kills < 200; ++kills) {
    Child writer([&] {
      for (int n = 0;; ++n) notice.post(std::string(1000, static_cast<char>('a' + n % 26)));
      return 0;
    });
    for (const auto before = notice.version(); notice.version() < before + 10;) sleep_us(50);
    sleep_us(kills);
    writer.kill();
    const std::string text = notice.read();
    interrupted += text.empty();
    REQUIRE((text.empty() || text == std::string(1000, text[0])));
    notice.post("after");
    REQUIRE(notice.read() == "after");
  }
  CHECK(interrupted > 0);
}

TEST_CASE("a heartbeat tells the living from the dead, and from those not reaped yet") {
  SharedMemory memory(4096);
  auto& liveness = memory.as<Liveness>();
  CHECK(liveness.alive());
  Child child([&] {
    liveness.start();
    for (;;) sleep_us(1000);
    return 0;
  });
  while (liveness.pid.load() == 0) sleep_us(100);
  CHECK(liveness.alive());
  ::kill(child.pid(), SIGKILL);
  for (int n = 0; n < 10'000 && liveness.alive(); ++n) sleep_us(100);
  CHECK_FALSE(liveness.alive());  // a zombie
  child.kill();
  CHECK_FALSE(liveness.alive());
  // In another namespace these numbers belong to other processes, or to none.
  liveness.space.fetch_add(1);
  CHECK(liveness.alive());
  liveness.start();
  CHECK(liveness.alive());
}

TEST_CASE("the last client of an iteration rings, in whatever order clients run") {
  SharedMemory memory(sizeof(ServerControl));
  auto& control = memory.as<ServerControl>();
  constexpr std::uint32_t clients = 3;
  for (std::int64_t i = 0; i < 200; ++i) {
    Child sleeper([&] { return control.bell.wait([] { return false; }, 20s) ? 1 : 0; });
    while (!control.bell.asleep()) sleep_us(20);
    if (i == 1) CHECK_FALSE(control.end(i + 5, clients));  // one client is ahead
    if (i != 6) CHECK_FALSE(control.end(i, clients));
    CHECK_FALSE(control.end(i, clients));
    CHECK(control.bell.asleep());
    CHECK(control.end(i, clients));
    CHECK(sleeper.wait() == 0);
    if (i >= slots) CHECK_FALSE(control.end(i - slots, clients));  // late by a whole round, so it changes nothing
  }
}

TEST_CASE("outcomes are pending until announced, and kept for 64 iterations") {
  SharedMemory memory(sizeof(ClientControl));
  auto& control = memory.as<ClientControl>();
  const auto outcome_of = [](std::int64_t i) { return static_cast<Outcome>(1 + i % 3); };
  for (std::int64_t i = 0; i < 300; ++i) {
    CHECK(control.outcome(i) == Outcome::pending);
    control.announce(i, outcome_of(i));
    for (std::int64_t j = std::max<std::int64_t>(0, i - slots + 1); j <= i; ++j)
      CHECK(control.outcome(j) == outcome_of(j));
    CHECK(control.released.load() == i);
    control.release(i);
    CHECK(control.released.load() == i + 1);
  }
}

TEST_CASE("a client that waits for room is woken by the release") {
  SharedMemory memory(sizeof(ClientControl));
  auto& control = memory.as<ClientControl>();
  Child client([&] {
    return control.space.wait([&] { return control.released.load(std::memory_order_acquire) > 0; }, 20s) ? 0 : 1;
  });
  while (!control.space.asleep()) sleep_us(50);
  control.release(0);
  CHECK(client.wait() == 0);
}
