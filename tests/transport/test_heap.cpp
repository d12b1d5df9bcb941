#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sidestream/error.hpp"
#include "transport/processes.hpp"
#include "transport/quiet.hpp"
#include "transport/shared_memory/heap.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
using test::SharedMemory;

namespace {

constexpr std::uint64_t kib = 1024, page = 4096, chunk = 64 * kib;

/// A buffer for clients with homes of these sizes and `chunks` shared chunks, and a heap for each client.
struct Node {
  Node(std::vector<Extents> extents, std::uint64_t chunks) : memory(Arena::minimum_bytes(extents) + chunks * chunk) {
    Arena::create(memory.data(), Arena::minimum_bytes(extents) + chunks * chunk, extents);
    arena = std::make_unique<Arena>(memory.data());
    for (std::size_t c = 0; c < extents.size(); ++c) {
      heaps.push_back(std::make_unique<ClientHeap>(*arena, static_cast<int>(c)));
    }
  }
  SharedMemory memory;
  std::unique_ptr<Arena> arena;
  std::vector<std::unique_ptr<ClientHeap>> heaps;
};

/// Records all live regions of the buffer, to check the heap by brute force.
class Twin {
 public:
  /// Adds a region. True if it is aligned, in the buffer, of that size, and overlaps no live region.
  bool add(const Arena& arena, const Region& region, std::uint64_t bytes) {
    const auto begin = static_cast<std::uint64_t>(region.data - arena.begin());
    const std::uint64_t end = begin + block_footprint(bytes);
    const bool aligned = reinterpret_cast<std::uintptr_t>(region.data) % (bytes >= page ? page : 64) == 0;
    const auto next = live_.lower_bound(begin);
    const bool free =
        (next == live_.end() || next->first >= end) && (next == live_.begin() || std::prev(next)->second <= begin);
    live_[begin] = end;
    return aligned && free && end <= arena.bytes() && region.bytes == bytes;
  }
  void remove(const Arena& arena, const Region& region) {
    live_.erase(static_cast<std::uint64_t>(region.data - arena.begin()));
  }

 private:
  std::map<std::uint64_t, std::uint64_t> live_;
};

std::uint64_t random_size(std::mt19937& random) {
  switch (random() % 5) {
    case 0:
      return random() % 3;
    case 1:
      return random() % 5000;
    case 2:
      return page * (random() % 40);
    case 3:
      return 4000 + random() % 200;
    default:
      return random() % (300 * kib);
  }
}

}  // namespace

TEST_CASE("blocks fill a home to the last byte, in whatever order they come") {
  std::mt19937 random(6);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> sizes(random() % 30);
    for (auto& bytes : sizes) bytes = random_size(random);
    const std::uint64_t home = home_footprint(sizes);
    Node node({Extents{home, 1, 0, 0}}, 0);
    ClientHeap& heap = *node.heaps[0];
    Twin twin;
    for (const auto bytes : sizes) {
      const auto region = heap.reserve(bytes);
      REQUIRE(region);
      REQUIRE(twin.add(*node.arena, *region, bytes));
      heap.commit(*region, false);
    }
    if (home > 0) REQUIRE_FALSE(heap.reserve(4 * page));
  }
}

TEST_CASE("an iteration in a home blocks it for the next until it is released; the pool helps meanwhile") {
  Node node({Extents{8 * page, 1, 0, 0}}, 2);
  ClientHeap& heap = *node.heaps[0];
  const auto whole = [&] {
    const auto region = heap.reserve(8 * page);
    if (region) heap.commit(*region, false);
    return region;
  };
  const auto first = whole();
  REQUIRE(first);
  CHECK(first->data == node.arena->home(0, 0));
  heap.begin_iteration(1);
  const auto second = whole();
  REQUIRE(second);
  CHECK(second->data >= node.arena->chunk(0));
  heap.begin_iteration(2);
  REQUIRE(whole());
  CHECK(test::free_chunks(*node.arena) == 0);
  heap.begin_iteration(3);
  CHECK_FALSE(whole());
  CHECK_FALSE(heap.stuck());
  heap.release_upto(1);
  const auto fourth = whole();
  REQUIRE(fourth);
  CHECK(fourth->data == first->data);  // warm pages
  heap.release_upto(3);
  REQUIRE(test::free_chunks(*node.arena) == 2);
  REQUIRE(node.arena->borrow(7, 2, 0));  // another client is faster
  CHECK_FALSE(whole());
  CHECK(heap.stuck());  // larger than its home, and the pool has no room
  CHECK(std::string(heap.why()).find("as they were declared") != std::string::npos);
}

TEST_CASE("an iteration that finds the pool short goes on in its home when that comes free") {
  Node node({Extents{8 * page, 1, 0, 0}}, 1);
  ClientHeap& heap = *node.heaps[0];
  heap.commit(heap.reserve(8 * page).value(), false);
  heap.begin_iteration(1);
  heap.commit(heap.reserve(8 * page).value(), false);
  heap.commit(heap.reserve(8 * page).value(), false);  // fits into the same chunk
  CHECK_FALSE(heap.reserve(page));
  heap.release_upto(1);
  const auto region = heap.reserve(8 * page);
  REQUIRE(region);
  CHECK(region->data == node.arena->home(0, 0));
}

TEST_CASE("held arrays keep their extent, and two homes let an iteration be filled beside the one that is held") {
  for (const std::uint32_t homes : {1u, 2u}) {
    Node node({Extents{2 * page, homes, 0, 0}}, 0);
    ClientHeap& heap = *node.heaps[0];
    Region held = heap.reserve(2 * page).value();
    heap.commit(held, true);
    for (std::int64_t i = 1; i < 20; ++i) {
      heap.begin_iteration(i);
      heap.release_upto(i);  // servers have finished all earlier iterations, the client has not
      const auto next = heap.reserve(2 * page);
      REQUIRE(next.has_value() == (homes == 2));
      if (!next) {
        CHECK(heap.stuck());
        CHECK(std::string(heap.why()).find("still held") != std::string::npos);
        heap.clear(held);
        CHECK(heap.reserve(2 * page));
        break;
      }
      heap.commit(*next, true);
      heap.clear(held);
      held = *next;
    }
  }
}

TEST_CASE("clear gives back what was not committed, at once") {
  Node node({Extents{4 * page, 1, 0, 0}}, 0);
  ClientHeap& heap = *node.heaps[0];
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<Region> regions;
    for (int n = 0; n < 4; ++n) regions.push_back(heap.reserve(page).value());
    REQUIRE_FALSE(heap.reserve(64));
    std::shuffle(regions.begin(), regions.end(), random);
    for (const Region& region : regions) heap.clear(region);
    regions.clear();
    for (int n = 0; n < 256; ++n) regions.push_back(heap.reserve(10).value());
    REQUIRE_FALSE(heap.reserve(10));
    std::shuffle(regions.begin(), regions.end(), random);
    for (const Region& region : regions) heap.clear(region);
  }
}

TEST_CASE("persistent arrays outlive iterations and leave when replaced and no longer read") {
  Node node({Extents{page, 1, 0, 2 * page}}, 1);
  ClientHeap& heap = *node.heaps[0];
  Region old = heap.reserve(page, true).value();
  CHECK(old.data >= node.arena->keep(0));
  CHECK(old.data < node.arena->keep(0) + 2 * page);
  heap.commit(old, false);
  for (std::int64_t i = 1; i < 30; ++i) {
    heap.begin_iteration(i);
    heap.release_upto(i);
    const auto next = heap.reserve(page, true);
    REQUIRE(next);
    REQUIRE(next->data != old.data);
    heap.commit(*next, false);
    heap.retire(old);
    old = *next;
    CHECK(test::free_chunks(*node.arena) == 1);
  }
  // Iteration 29 reads it and is not released, so that the memory must not be overwritten yet.
  heap.begin_iteration(30);
  const Region extra = heap.reserve(page, true).value();
  heap.commit(extra, false);
  heap.retire(old);
  const Region borrowed = heap.reserve(page, true).value();
  CHECK(borrowed.data >= node.arena->chunk(0));
  heap.commit(borrowed, true);
  heap.retire(extra);
  heap.release_upto(30);
  CHECK(heap.reserve(page, true));
  heap.begin_iteration(31);
  heap.retire(borrowed);
  heap.release_upto(31);
  CHECK(test::free_chunks(*node.arena) == 0);  // replaced and read no more, but held
  heap.clear(borrowed);
  CHECK(test::free_chunks(*node.arena) == 1);
}

TEST_CASE("impossible requests and spent tickets") {
  Node node({Extents{page, 1, 0, 0}}, 1);
  ClientHeap& heap = *node.heaps[0];
  for (const std::uint64_t bytes : {1ull << 31, 1ull << 40, 1ull << 63, ~0ull, ~0ull - 4095}) {
    CHECK_FALSE(heap.reserve(bytes));
    CHECK_FALSE(heap.reserve(bytes, true));
  }
  const Region region = heap.reserve(100).value();
  heap.commit(region, false);
  CHECK_THROWS_AS(heap.commit(region, false), Error);
  CHECK_THROWS_AS(heap.clear(region), Error);
  CHECK_THROWS_AS(heap.retire(region), Error);
  CHECK_THROWS_AS(heap.clear(Region{}), Error);
  const Region held = heap.reserve(100).value();
  heap.commit(held, true);
  CHECK_THROWS_AS(heap.commit(held, true), Error);
  heap.clear(held);
  CHECK_THROWS_AS(heap.clear(held), Error);
  CHECK_THROWS_AS(heap.begin_iteration(0), Error);
}

TEST_CASE("blocks beyond 2^31 bytes") {
  const std::uint64_t big = (1ull << 31) + 5, huge = 1ull << 36;
  Node node({Extents{home_footprint(std::vector<std::uint64_t>{big, huge, 7}), 1, 0, 0}}, 16 * huge / chunk / 8);
  ClientHeap& heap = *node.heaps[0];
  Twin twin;
  for (std::int64_t i = 0; i < 2; ++i) {
    for (const std::uint64_t bytes : {big, std::uint64_t{7}, huge}) {
      const auto region = heap.reserve(bytes);
      REQUIRE(region);
      CHECK(twin.add(*node.arena, *region, bytes));
      region->data[bytes - 1] = std::byte{1};  // the last byte is memory, too
      CHECK(heap.offset(*region) + bytes <= node.arena->bytes());
      heap.commit(*region, false);
    }
    heap.begin_iteration(i + 1);
  }
}

TEST_CASE("a heap that goes gives everything back") {
  Node node({Extents{page, 1, 0, 0}}, 8);
  {
    ClientHeap& heap = *node.heaps[0];
    heap.commit(heap.reserve(3 * chunk).value(), false);
    heap.commit(heap.reserve(chunk, true).value(), true);
    CHECK(test::free_chunks(*node.arena) == 4);
  }
  node.heaps.clear();
  CHECK(test::free_chunks(*node.arena) == 8);
}
