#include <doctest/doctest.h>

#include <thread>

#include "transport/processes.hpp"
#include "transport/shared_memory/futex.hpp"

using namespace sidestream::shared_memory;
using namespace std::chrono_literals;
using sidestream::test::Child;
using sidestream::test::SharedMemory;
using sidestream::test::sleep_us;

namespace {

struct PingPong {
  Doorbell bells[2];
  alignas(64) std::atomic<std::uint64_t> counts[2];
};

/// Waits for a long time. True if it slept until the end, which only a lost wake-up explains. It may end early without
/// any news, if somebody rings late for news that was seen before.
template <class Ready>
bool slept_through(Doorbell& bell, Ready&& ready) {
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(bell.wait(ready, 20s));
  return std::chrono::steady_clock::now() - start > 15s;
}

/// Plays for one of two players: each counts after the other has counted, and rings. Returns how many wake-ups were
/// lost.
int play(PingPong& game, int me, std::uint64_t rounds) {
  int lost = 0;
  for (std::uint64_t n = 0; n < rounds; ++n) {
    const auto ready = [&] { return game.counts[1 - me].load(std::memory_order_acquire) >= n + (me == 1); };
    while (!ready()) lost += slept_through(game.bells[me], ready);
    game.counts[me].store(n + 1, std::memory_order_release);
    game.bells[1 - me].ring();
  }
  return lost;
}

}  // namespace

TEST_CASE("no wake-up is lost between threads") {
  PingPong game{};
  int lost = 0;
  std::thread other([&] { lost = play(game, 1, 20'000); });
  CHECK(play(game, 0, 20'000) == 0);
  other.join();
  CHECK(lost == 0);
  CHECK(game.counts[1].load() == 20'000);
}

TEST_CASE("no wake-up is lost between processes") {
  SharedMemory memory(sizeof(PingPong));
  auto& game = memory.as<PingPong>();
  Child other([&] { return play(game, 1, 20'000); });
  CHECK(play(game, 0, 20'000) == 0);
  CHECK(other.wait() == 0);
}

TEST_CASE("many ringers, one sleeper") {
  SharedMemory memory(4096);
  auto& bell = memory.as<Doorbell>();
  auto& count = memory.as<std::atomic<std::uint64_t>>(1024);
  constexpr std::uint64_t each = 5000;
  const auto ringer = [&] {
    for (std::uint64_t n = 0; n < each; ++n) {
      count.fetch_add(1, std::memory_order_release);
      bell.ring();
    }
    return 0;
  };
  Child one(ringer), two(ringer), three(ringer);
  std::uint64_t seen = 0;
  int lost = 0;
  while (seen < 3 * each) {
    lost += slept_through(bell, [&] { return count.load(std::memory_order_acquire) > seen; });
    seen = count.load();
  }
  CHECK(lost == 0);
  CHECK(one.wait() == 0);
  CHECK(two.wait() == 0);
  CHECK(three.wait() == 0);
}

TEST_CASE("a wait ends at its limit, with odd limits too") {
  Doorbell bell;
  for (const auto limit : {0us, -5us, 1us, 2000us}) {
    CHECK_FALSE(bell.wait([] { return false; }, limit));
    CHECK_FALSE(bell.asleep());
  }
  CHECK(bell.wait([] { return true; }, std::chrono::microseconds::max()));
  std::atomic<std::uint32_t> word{7};
  futex_wait(word, 8, std::chrono::microseconds::max());  // the value differs, so it returns at once
  CHECK(futex_wake(word) == 0);
}

TEST_CASE("ringing an awake process wakes nobody, ringing a sleeper wakes it once") {
  SharedMemory memory(4096);
  auto& bell = memory.as<Doorbell>();
  auto& go = memory.as<std::atomic<std::uint32_t>>(1024);
  CHECK_FALSE(bell.ring());
  Child sleeper([&] { return bell.wait([&] { return go.load() == 1; }, 20s) ? 0 : 1; });
  while (!bell.asleep()) sleep_us(100);
  go.store(1);
  CHECK(bell.ring());
  CHECK_FALSE(bell.ring());
  CHECK(sleeper.wait() == 0);
}

TEST_CASE("a ringer killed at any moment costs the sleeper its time limit at most") {
  SharedMemory memory(4096);
  auto& bell = memory.as<Doorbell>();
  auto& count = memory.as<std::atomic<std::uint64_t>>(1024);
  std::uint64_t seen = 0;
  for (int kills = 0; kills < 100; ++kills) {
    Child ringer([&] {
      for (;;) {
        count.fetch_add(1, std::memory_order_release);
        bell.ring();
      }
      return 0;
    });
    for (int n = 0; n < 20; ++n) {
      bell.wait([&] { return count.load(std::memory_order_acquire) > seen; }, 100ms);
      seen = count.load();
    }
    ringer.kill();
    seen = count.load();
    CHECK_FALSE(bell.wait([&] { return count.load() > seen; }, 100us));
  }
}
