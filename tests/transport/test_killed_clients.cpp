// A client that uses heap, copies, ring and end of iteration is killed at random moments. The process that acts as
// server must find every block whole, and the next client must be able to go on.
#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <vector>

#include "transport/processes.hpp"
#include "transport/quiet.hpp"
#include "transport/shared_memory/control.hpp"
#include "transport/shared_memory/copy.hpp"
#include "transport/shared_memory/heap.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
using namespace std::chrono_literals;
using test::Child;
using test::scramble;
using test::SharedMemory;

namespace {

struct Record {
  std::uint64_t kind;  ///< 0: block, 1: end of iteration
  std::int64_t iteration;
  std::uint64_t offset, bytes, seed;
  std::uint64_t blocks;  ///< end: the number of blocks
};

constexpr std::uint64_t chunk = 64 << 10, home = 40 * 4096, capacity = 64;

struct Shared {
  Shared()
      : extents{{home, 1, 0, 0}},
        layout(control_layout(1, 1, capacity, sizeof(Record), 0)),
        bytes(Arena::minimum_bytes(extents) + 6 * chunk),
        memory(layout.bytes + bytes) {
    Arena::create(arena_memory(), bytes, extents);
  }
  [[nodiscard]] std::byte* arena_memory() const { return memory.data() + layout.bytes; }
  [[nodiscard]] ServerControl& server() const { return layout.server(memory.data(), 0); }
  [[nodiscard]] ClientControl& client() const { return layout.client(memory.data(), 0); }
  [[nodiscard]] std::byte* ring() const { return layout.ring(memory.data(), 0); }

  std::vector<Extents> extents;
  ControlLayout layout;
  std::uint64_t bytes;
  SharedMemory memory;
};

void fill(std::vector<std::uint64_t>& words, std::uint64_t seed) {
  for (std::uint64_t n = 0; n < words.size(); ++n) words[n] = scramble(seed + n);
}

/// Publishes for ever, from iteration `first` on.
int publish(const Shared& shared, std::int64_t first, unsigned seed) {
  Arena arena(shared.arena_memory());
  ClientHeap heap(arena, 0);
  RingProducer<Record> ring(shared.ring(), capacity);
  std::mt19937 random(seed);
  const auto released = [&] { return shared.client().released.load(std::memory_order_acquire); };
  const auto push = [&](const Record& message) {
    while (!ring.try_push(message)) test::sleep_us(10);
  };
  for (std::int64_t i = first;; ++i) {
    if (i > 0) heap.begin_iteration(i);
    const std::uint64_t blocks = random() % 6;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      std::vector<std::uint64_t> words(random() % (random() % 2 ? 800 : 100));
      const std::uint64_t number = scramble(static_cast<std::uint64_t>(i) * 100 + b);
      fill(words, number);
      std::optional<Region> region;
      while (heap.release_upto(released()), !(region = heap.reserve(words.size() * 8))) {
        if (heap.stuck()) return 1;
        const std::int64_t before = released();
        shared.client().space.wait([&] { return released() > before; }, 10ms);
      }
      stream_to_shared(region->data, words.data(), words.size() * 8);
      heap.commit(*region, false);
      push({0, i, heap.offset(*region), words.size() * 8, number, 0});
    }
    push({1, i, 0, 0, 0, blocks});
    shared.server().end(i, 1);
    while (i + 1 - released() >= 8) {
      shared.client().space.wait([&] { return i + 1 - released() < 8; }, 10ms);
    }
  }
}

/// Receives records until `iteration` is complete, checks and releases it. False if nothing comes for a long time.
class Server {
 public:
  explicit Server(const Shared& shared) : shared_(shared), ring_(shared.ring(), capacity) {}

  /// Receives all waiting records; waits at most `limit` for the first one.
  void receive(std::chrono::microseconds limit) {
    Record message{};
    shared_.server().bell.wait([&] { return !ring_.empty(); }, limit);
    while (test::pop(ring_, message)) take(message);
  }
  /// To be called after the client's death: drops what it did not end.
  void drop_open() { open_.clear(); }

  std::int64_t completed = 0;
  std::uint64_t wrong = 0, blocks = 0;

 private:
  void take(const Record& message) {
    wrong += message.iteration != completed || message.kind > 1;
    if (message.kind == 0) return open_.push_back(message);
    wrong += message.blocks != open_.size();
    for (const Record& block : open_) {
      if (block.bytes == 0) continue;
      std::vector<std::uint64_t> expected(block.bytes / 8);
      fill(expected, block.seed);
      wrong += block.offset + block.bytes > shared_.bytes ||
               std::memcmp(expected.data(), shared_.arena_memory() + block.offset, block.bytes) != 0;
    }
    blocks += open_.size();
    open_.clear();
    shared_.client().announce(completed, Outcome::delivered);
    shared_.client().release(completed++);
  }

  const Shared& shared_;
  RingConsumer<Record> ring_;
  std::vector<Record> open_;
};

}  // namespace

TEST_CASE("clients killed at any moment leave whole iterations and a buffer that the next one can use") {
  const Shared shared;
  Server server(shared);
  std::mt19937 random(8);
  int with_chunks = 0;
  for (unsigned kills = 0; kills < 300; ++kills) {
    Child client([&] { return publish(shared, server.completed, kills); });
    const std::int64_t until = server.completed + static_cast<std::int64_t>(random() % 20);
    while (server.completed < until) server.receive(50ms);
    test::sleep_us(static_cast<long>(random() % 500));
    client.kill();
    while (server.receive(0us), RingEnd<Record>(shared.ring(), capacity).size() > 0) {
    }
    server.drop_open();
    Arena arena(shared.arena_memory());
    with_chunks += test::reclaim(arena, 0) > 0;
    REQUIRE(test::free_chunks(arena) == arena.chunks());
    REQUIRE(server.wrong == 0);
  }
  CHECK(server.completed > 1000);
  CHECK(server.blocks > 2000);
  CHECK(with_chunks > 0);
}

TEST_CASE("a server killed at any moment: the client's calls all return, and the next server finds the records") {
  const Shared shared;
  std::mt19937 random(9);
  // The client lives throughout. Records that a killed server had taken are lost, so that only whole records and their
  // order are checked. Iterations are released as they end.
  Child client([&] { return publish(shared, 0, 1); });
  std::uint64_t wrong = 0;
  SharedMemory notes(4096);
  auto& ended = notes.as<std::atomic<std::int64_t>>();
  auto& torn = notes.as<std::atomic<std::uint64_t>>(64);
  for (int kills = 0; kills < 200; ++kills) {
    Child server([&] {
      RingConsumer<Record> ring(shared.ring(), capacity);
      Record message{};
      for (;;) {
        shared.server().bell.wait([&] { return !ring.empty(); }, 10ms);
        if (!test::pop(ring, message)) continue;
        torn += message.kind > 1 || message.bytes % 8 != 0 || message.offset + message.bytes > shared.bytes;
        if (message.kind == 1) {
          ended.store(message.iteration + 1);
          shared.client().release(message.iteration);
        }
      }
      return 0;
    });
    const std::int64_t until = ended.load() + 1 + static_cast<std::int64_t>(random() % 5);
    for (int tries = 0; ended.load() < until && tries < 100'000; ++tries) test::sleep_us(50);
    wrong += ended.load() < until;
    server.kill();
    // The server was killed after it took an end and before it released it. The transport's next server would have to
    // know that.
    if (shared.client().released.load() < ended.load()) shared.client().release(ended.load() - 1);
    RingConsumer<Record> left(shared.ring(), capacity);
    Record message{};
    while (test::pop(left, message)) {
      if (message.kind != 1) continue;
      ended.store(message.iteration + 1);
      shared.client().release(message.iteration);
    }
  }
  CHECK(wrong == 0);
  CHECK(torn.load() == 0);
  CHECK(ended.load() > 300);
}
