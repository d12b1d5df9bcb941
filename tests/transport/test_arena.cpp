#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "sidestream/error.hpp"
#include "transport/processes.hpp"
#include "transport/quiet.hpp"
#include "transport/shared_memory/arena.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
using test::Child;
using test::SharedMemory;
using test::sleep_us;

namespace {

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;

/// An arena with `chunks` chunks of 64 KiB for `clients` clients without homes.
struct Pool {
  explicit Pool(std::uint64_t chunks, int clients = 4)
      : extents(static_cast<std::size_t>(clients)), memory(Arena::minimum_bytes(extents) + chunks * 64 * kib) {
    Arena::create(memory.data(), Arena::minimum_bytes(extents) + chunks * 64 * kib, extents);
  }
  std::vector<Extents> extents;
  SharedMemory memory;
};

/// First fit in its simplest form, to compare with.
struct Twin {
  explicit Twin(std::uint64_t chunks) : owner(chunks, 0) {}
  std::optional<std::uint64_t> borrow(int client, std::uint64_t count, std::uint64_t hint) {
    for (std::uint64_t pass = 0; pass < 2; ++pass) {
      const std::uint64_t from = pass == 0 && hint < owner.size() ? hint : 0;
      for (std::uint64_t first = from; first + count <= owner.size(); ++first) {
        const auto begin = owner.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end = begin + static_cast<std::ptrdiff_t>(count);
        if (!std::all_of(begin, end, [](int who) { return who == 0; })) continue;
        std::fill(begin, end, client + 1);
        return first;
      }
    }
    return std::nullopt;
  }
  std::vector<int> owner;
};

}  // namespace

TEST_CASE("homes, keeps, table and pool lie in the buffer and never overlap") {
  const std::vector<Extents> clients{{100, 1, 0, 0}, {3 * mib, 2, 0, 5000}, {0, 1, 0, 0}, {4096, 1, 0, 4096}};
  const std::uint64_t bytes = Arena::minimum_bytes(clients) + 10 * 64 * kib + 17;
  SharedMemory memory(bytes);
  Arena::create(memory.data(), bytes, clients);
  const Arena arena(memory.data());
  std::vector<std::pair<std::byte*, std::byte*>> pieces;
  for (int c = 0; c < 4; ++c) {
    const Extents own = arena.extents(c);
    CHECK(own.home >= clients[static_cast<std::size_t>(c)].home);
    CHECK(own.keep >= clients[static_cast<std::size_t>(c)].keep);
    for (std::uint32_t h = 0; h < own.homes; ++h) {
      pieces.emplace_back(arena.home(c, h), arena.home(c, h) + own.home);
    }
    pieces.emplace_back(arena.keep(c), arena.keep(c) + own.keep);
  }
  for (std::uint64_t n = 0; n < arena.chunks(); ++n) {
    pieces.emplace_back(arena.chunk(n), arena.chunk(n) + arena.chunk_bytes());
  }
  std::sort(pieces.begin(), pieces.end());
  CHECK(arena.chunks() == 10);
  CHECK(arena.clients() == 4);
  CHECK(pieces.front().first > memory.data());
  CHECK(pieces.back().second <= memory.data() + bytes);
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    CHECK(reinterpret_cast<std::uintptr_t>(pieces[n].first) % 4096 == 0);
    if (n > 0) CHECK(pieces[n - 1].second <= pieces[n].first);
  }
}

TEST_CASE("a buffer of the least size is enough, one byte less is an error that says how much it takes") {
  const std::vector<Extents> clients{{10 * mib, 1, 0, 0}, {10 * mib, 1, 0, 0}};
  const std::uint64_t least = Arena::minimum_bytes(clients);
  SharedMemory memory(least);
  Arena::create(memory.data(), least, clients);
  CHECK(Arena(memory.data()).chunks() == 0);
  CHECK_FALSE(Arena(memory.data()).borrow(0, 1, 0));
  SharedMemory other(least);
  try {
    Arena::create(other.data(), least - 1, clients);
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(error.code() == Code::full);
    CHECK(std::string(error.what()).find(std::to_string((least + 1023) / 1024) + " KiB") != std::string::npos);
  }
  CHECK_THROWS_AS(Arena(other.data()), Error);
}

TEST_CASE("chunks grow with the buffer, also beyond 2^38 bytes") {
  for (const std::uint64_t bytes : {2 * mib, 512 * mib, 513 * mib, 3 * 1024 * mib, 300 * 1024 * mib}) {
    SharedMemory memory(bytes);
    const std::vector<Extents> clients{{bytes / 4, 2, 0, 0}};
    Arena::create(memory.data(), bytes, clients);
    Arena arena(memory.data());
    CHECK(arena.chunks() <= 8192);
    CHECK(arena.chunk_bytes() >= 64 * kib);
    CHECK((arena.chunk_bytes() == 64 * kib || bytes / arena.chunk_bytes() >= 4096));
    CHECK(arena.chunks() * arena.chunk_bytes() > bytes / 2 - 2 * arena.chunk_bytes() - 64 * kib);
    const auto all = arena.borrow(0, arena.chunks(), 5);
    REQUIRE(all == 0);
    CHECK(arena.chunk(arena.chunks() - 1) + arena.chunk_bytes() <= memory.data() + bytes);
    CHECK(test::free_chunks(arena) == 0);
    CHECK(test::reclaim(arena, 0) == arena.chunks());
  }
}

TEST_CASE("borrowing alone is first fit from the hint") {
  constexpr std::uint64_t chunks = 50;
  Pool pool(chunks);
  Arena arena(pool.memory.data());
  REQUIRE(arena.chunks() == chunks);
  Twin twin(chunks);
  std::vector<std::array<std::uint64_t, 3>> held;  // client, first, count
  std::mt19937 random(4);
  int failures = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0) {
      const int client = static_cast<int>(random() % 4);
      const std::uint64_t count = 1 + random() % 9, hint = random() % (chunks + 5);
      const auto found = arena.borrow(client, count, hint);
      REQUIRE(found == twin.borrow(client, count, hint));
      failures += !found;
      if (found) held.push_back({static_cast<std::uint64_t>(client), *found, count});
    } else if (!held.empty()) {
      std::swap(held[random() % held.size()], held.back());
      const auto [client, first, count] = held.back();
      held.pop_back();
      arena.give_back(static_cast<int>(client), first, count);
      std::fill_n(twin.owner.begin() + static_cast<std::ptrdiff_t>(first), count, 0);
    }
    REQUIRE(test::free_chunks(arena) ==
            static_cast<std::uint64_t>(std::count(twin.owner.begin(), twin.owner.end(), 0)));
  }
  CHECK(failures > 100);
  CHECK_FALSE(arena.borrow(0, 0, 0));
  CHECK_FALSE(arena.borrow(0, chunks + 1, 0));
  CHECK_FALSE(arena.borrow(0, UINT64_MAX, UINT64_MAX));
}

TEST_CASE("giving back what one does not have changes nothing") {
  Pool pool(8);
  Arena arena(pool.memory.data());
  REQUIRE(arena.borrow(1, 4, 0) == 0);
  arena.give_back(0, 0, 8);
  arena.give_back(1, 100, 5);
  CHECK(test::free_chunks(arena) == 4);
  CHECK(test::reclaim(arena, 0) == 0);
  CHECK(test::reclaim(arena, 1) == 4);
}

TEST_CASE("threads never get the same chunk at the same time") {
  constexpr std::uint64_t chunks = 24;
  Pool pool(chunks);
  std::atomic<int> overlaps{0}, borrowed{0};
  const auto work = [&](int client) {
    Arena arena(pool.memory.data());
    std::mt19937 random(static_cast<unsigned>(client));
    for (int n = 0; n < 20'000; ++n) {
      const std::uint64_t count = 1 + random() % 8;
      const auto first = arena.borrow(client, count, random() % chunks);
      if (!first) continue;
      ++borrowed;
      // Stores are not atomic, so that the thread sanitizer sees if taking and giving back do not order them.
      for (std::uint64_t c = *first; c < *first + count; ++c) *reinterpret_cast<int*>(arena.chunk(c)) = client;
      if (n % 16 == 0) std::this_thread::yield();
      for (std::uint64_t c = *first; c < *first + count; ++c) {
        overlaps += *reinterpret_cast<int*>(arena.chunk(c)) != client;
      }
      arena.give_back(client, *first, count);
    }
  };
  std::vector<std::thread> threads;
  for (int c = 0; c < 4; ++c) threads.emplace_back(work, c);
  for (auto& thread : threads) thread.join();
  CHECK(overlaps.load() == 0);
  CHECK(borrowed.load() > 10'000);
  CHECK(test::free_chunks(Arena(pool.memory.data())) == chunks);
}

TEST_CASE("runs that collide are rolled back whole") {
  constexpr std::uint64_t chunks = 4000;  // so many that taking them is long enough for others to interfere
  Pool pool(chunks);
  std::atomic<int> borrowed{0}, missed{0};
  const auto work = [&](int client) {
    Arena arena(pool.memory.data());
    std::mt19937 random(static_cast<unsigned>(client));
    for (int n = 0; n < 2000; ++n) {
      const std::uint64_t count = chunks / 4 + random() % (chunks / 2);
      const auto first = arena.borrow(client, count, random() % chunks);
      (first ? borrowed : missed) += 1;
      if (first) arena.give_back(client, *first, count);
    }
  };
  std::vector<std::thread> threads;
  for (int c = 0; c < 4; ++c) threads.emplace_back(work, c);
  for (auto& thread : threads) thread.join();
  CHECK(borrowed.load() > 100);
  CHECK(test::free_chunks(Arena(pool.memory.data())) == chunks);
}

TEST_CASE("clients killed at any moment: the others go on, and all their chunks can be given back") {
  constexpr std::uint64_t chunks = 24;
  Pool pool(chunks, 3);
  SharedMemory notes(4096);
  auto& overlaps = notes.as<std::atomic<std::uint64_t>>(0);
  auto& rounds = notes.as<std::atomic<std::uint64_t>>(64);
  const auto holds = [&](int client) -> std::atomic<std::uint64_t>& {
    return notes.as<std::atomic<std::uint64_t>>(128 + 64 * static_cast<std::size_t>(client));
  };
  const auto work = [&](int client, unsigned seed) {
    Arena arena(pool.memory.data());
    std::mt19937 random(seed);
    for (;;) {
      const std::uint64_t count = 1 + random() % 8;
      const auto first = arena.borrow(client, count, random() % chunks);
      if (!first) {
        std::this_thread::yield();
        continue;
      }
      holds(client).store(1);
      for (std::uint64_t c = *first; c < *first + count; ++c) *reinterpret_cast<int*>(arena.chunk(c)) = client;
      for (std::uint64_t c = *first; c < *first + count; ++c) {
        overlaps += *reinterpret_cast<int*>(arena.chunk(c)) != client;
      }
      holds(client).store(0);
      arena.give_back(client, *first, count);
      ++rounds;
    }
    return 0;
  };
  Arena arena(pool.memory.data());
  std::mt19937 random(5);
  Child survivor([&] { return work(0, 1); });
  std::uint64_t killed_with_chunks = 0;
  for (unsigned kills = 0; kills < 300; kills += 2) {
    Child one([&] { return work(1, 10 + kills); });
    Child two([&] { return work(2, 11 + kills); });
    sleep_us(static_cast<long>(random() % 3000));
    one.kill();
    two.kill();
    for (const int client : {1, 2}) {
      killed_with_chunks += holds(client).exchange(0);
      arena.give_back(client, 0, chunks);
    }
  }
  survivor.kill();
  arena.give_back(0, 0, chunks);
  CHECK(test::free_chunks(arena) == chunks);
  CHECK(overlaps.load() == 0);
  CHECK(killed_with_chunks > 50);  // most are killed while they have something
  CHECK(rounds.load() > 1000);
}

TEST_CASE("a home as large as its footprint says holds the blocks") {
  CHECK(home_footprint({}) == 0);
  CHECK(home_footprint(std::vector<std::uint64_t>{0}) == 4096);
  CHECK(home_footprint(std::vector<std::uint64_t>{1, 65, 4000}) == 8192);  // 64 + 128 + 4032
  CHECK(home_footprint(std::vector<std::uint64_t>{4096, 4097, 1}) == 4096 + 8192 + 4096);
  CHECK(home_footprint(std::vector<std::uint64_t>{5ull << 40}) == 5ull << 40);
}
