#include <doctest/doctest.h>

#include <random>
#include <thread>
#include <vector>

#include "transport/processes.hpp"
#include "transport/quiet.hpp"
#include "transport/shared_memory/ring.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
using test::Child;
using test::scramble;
using test::SharedMemory;

namespace {

/// A record of the transport's size, which is not a power of two, so that records cross cache lines.
struct Record {
  std::uint64_t number;
  std::uint64_t words[18];

  static Record of(std::uint64_t n) {
    Record record{n, {}};
    for (std::uint64_t w = 0; w < 18; ++w) record.words[w] = scramble(n * 18 + w);
    return record;
  }
  [[nodiscard]] bool whole() const {
    for (std::uint64_t w = 0; w < 18; ++w) {
      if (words[w] != scramble(number * 18 + w)) return false;
    }
    return true;
  }
};

constexpr std::uint64_t capacity = 16;

}  // namespace

TEST_CASE("a ring holds exactly its capacity, in order, over many rounds") {
  SharedMemory memory(ring_bytes<Record>(capacity));
  RingProducer<Record> producer(memory.data(), capacity);
  RingConsumer<Record> consumer(memory.data(), capacity);
  Record record{};
  std::uint64_t pushed = 0, popped = 0;
  CHECK_FALSE(test::pop(consumer, record));
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    for (auto n = random() % (capacity + 3); n > 0; --n) {
      const bool done = producer.try_push(Record::of(pushed));
      REQUIRE(done == (pushed - popped < capacity));
      pushed += done;
    }
    REQUIRE(producer.size() == pushed - popped);
    for (auto n = random() % (capacity + 3); n > 0; --n) {
      REQUIRE(consumer.empty() == (pushed == popped));
      const bool done = test::pop(consumer, record);
      REQUIRE(done == (pushed > popped));
      if (!done) continue;
      REQUIRE(record.number == popped++);
      REQUIRE(record.whole());
    }
    REQUIRE(consumer.size() == pushed - popped);
  }
  CHECK(popped > 1000);
}

TEST_CASE("several records are pushed together or not at all, and looked at before they are taken") {
  SharedMemory memory(ring_bytes<Record>(capacity));
  RingProducer<Record> producer(memory.data(), capacity);
  RingConsumer<Record> consumer(memory.data(), capacity);
  std::mt19937 random(3);
  std::uint64_t pushed = 0, popped = 0, refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Record> some;
    for (auto n = 1 + random() % 6; n > 0; --n) some.push_back(Record::of(pushed + some.size()));
    const bool fits = pushed + some.size() - popped <= capacity;
    REQUIRE(producer.has_space(some.size()) == fits);
    REQUIRE(producer.try_push(some) == fits);
    if (fits) pushed += some.size();
    refused += !fits;
    if (random() % 2) continue;
    Record record{};
    const std::uint64_t there = pushed - popped, taken = random() % (there + 1);
    for (std::uint64_t n = 0; n < there; ++n) {
      REQUIRE(consumer.peek(n, record));
      REQUIRE(record.number == popped + n);
      REQUIRE(record.whole());
    }
    REQUIRE_FALSE(consumer.peek(there, record));
    consumer.drop(taken);
    popped += taken;
  }
  CHECK(refused > 100);
  CHECK(popped > 1000);
}

TEST_CASE("records cross between threads whole and in order") {
  constexpr std::uint64_t count = 50'000;
  SharedMemory memory(ring_bytes<Record>(capacity));
  std::thread other([&] {
    RingProducer<Record> producer(memory.data(), capacity);
    for (std::uint64_t n = 0; n < count;) {
      if (producer.try_push(Record::of(n))) {
        ++n;
      } else {
        std::this_thread::yield();
      }
    }
  });
  RingConsumer<Record> consumer(memory.data(), capacity);
  std::uint64_t wrong = 0;
  for (std::uint64_t n = 0; n < count;) {
    Record record{};
    if (!test::pop(consumer, record)) {
      std::this_thread::yield();
      continue;
    }
    wrong += record.number != n || !record.whole();
    ++n;
  }
  other.join();
  CHECK(wrong == 0);
  CHECK(consumer.empty());
}

TEST_CASE("records that are pushed together are seen together by another thread") {
  constexpr std::uint64_t groups = 20'000, most = 5;
  const auto length_of = [](std::uint64_t group) { return 1 + scramble(group) % most; };
  SharedMemory memory(ring_bytes<Record>(capacity));
  std::thread other([&] {
    RingProducer<Record> producer(memory.data(), capacity);
    std::uint64_t pushed = 0;
    for (std::uint64_t group = 0; group < groups; ++group) {
      std::vector<Record> some;
      for (std::uint64_t n = 0; n < length_of(group); ++n) some.push_back(Record::of(pushed + n));
      while (!producer.try_push(some)) std::this_thread::yield();
      pushed += some.size();
    }
  });
  RingConsumer<Record> consumer(memory.data(), capacity);
  std::uint64_t wrong = 0, popped = 0;
  Record record{};
  for (std::uint64_t group = 0; group < groups;) {
    if (!consumer.peek(0, record)) {
      std::this_thread::yield();
      continue;
    }
    for (std::uint64_t n = 0; n < length_of(group); ++n) {
      wrong += !consumer.peek(n, record) || record.number != popped + n || !record.whole();
    }
    popped += length_of(group);
    consumer.drop(length_of(group));
    ++group;
  }
  other.join();
  CHECK(wrong == 0);
  CHECK(consumer.empty());
}

TEST_CASE("producers that are killed leave whole records only, and the next one goes on") {
  SharedMemory memory(ring_bytes<Record>(capacity) + 4096);
  auto& next = memory.as<std::atomic<std::uint64_t>>(ring_bytes<Record>(capacity));
  RingConsumer<Record> consumer(memory.data(), capacity);
  std::mt19937 random(2);
  std::uint64_t popped = 0, wrong = 0;
  for (int kills = 0; kills < 200; ++kills) {
    Child child([&] {
      RingProducer<Record> producer(memory.data(), capacity);
      for (;;) {
        // A new producer knows only the number of all pushes, which the ring tells.
        if (producer.try_push(Record::of(next.load()))) {
          next.fetch_add(1);
        } else {
          std::this_thread::yield();
        }
      }
      return 0;
    });
    const std::uint64_t until = popped + random() % 300;
    Record record{};
    const auto take = [&] {
      if (!test::pop(consumer, record)) return false;
      // `next` counts after the push: one killed in between makes the next producer repeat a number.
      wrong += !record.whole() || (record.number != popped && record.number + 1 != popped);
      popped = record.number + 1;
      return true;
    };
    while (popped < until) {
      if (!take()) std::this_thread::yield();
    }
    child.kill();
    while (take()) {
    }
    REQUIRE(consumer.size() == 0);
    REQUIRE(popped >= next.load());
    REQUIRE(popped <= next.load() + 1);
  }
  CHECK(wrong == 0);
  CHECK(popped > 5'000);
}

TEST_CASE("consumers that are killed lose nothing and see at most one record again") {
  SharedMemory memory(ring_bytes<Record>(capacity) + 4096);
  auto& last = memory.as<std::atomic<std::uint64_t>>(ring_bytes<Record>(capacity));
  auto& wrong = memory.as<std::atomic<std::uint64_t>>(ring_bytes<Record>(capacity) + 128);
  RingProducer<Record> producer(memory.data(), capacity);
  std::mt19937 random(3);
  std::uint64_t pushed = 0;
  const auto consume = [&](bool for_ever) {
    RingConsumer<Record> consumer(memory.data(), capacity);
    Record record{};
    for (;;) {
      if (test::pop(consumer, record)) {
        const std::uint64_t expected = last.load();
        // If a consumer is killed between taking a record and counting it, the next one is one ahead of the count.
        wrong += !record.whole() || (record.number != expected && record.number != expected + 1);
        last.store(record.number + 1);
      } else if (for_ever) {
        std::this_thread::yield();
      } else {
        return 0;
      }
    }
  };
  for (int kills = 0; kills < 200; ++kills) {
    Child child([&] { return consume(true); });
    for (const std::uint64_t until = pushed + random() % 300; pushed < until;) {
      if (producer.try_push(Record::of(pushed))) {
        ++pushed;
      } else {
        std::this_thread::yield();
      }
    }
    child.kill();
  }
  consume(false);
  CHECK(wrong.load() == 0);
  CHECK(last.load() == pushed);
  CHECK(producer.size() == 0);
}
