// Random use of several clients' heaps on one buffer, compared with a list of all blocks. Nobody may wait for ever.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "transport/processes.hpp"
#include "transport/quiet.hpp"
#include "transport/shared_memory/heap.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;
using test::SharedMemory;

namespace {

constexpr std::uint64_t page = 4096, chunk = 64 << 10;

/// A block that somebody may still read, and its contents. Every byte counts, because overlapping regions would
/// overwrite it.
struct Live {
  Region region;
  std::uint8_t mark = 0;
  std::int64_t iteration = 0;  ///< iteration of the block
  bool held = false;

  void fill() const { std::memset(region.data, mark, region.bytes); }
  /// True if all bytes are the mark: the first one is, and each equals the next.
  [[nodiscard]] bool intact() const {
    return region.bytes == 0 || (static_cast<std::uint8_t>(region.data[0]) == mark &&
                                 std::memcmp(region.data, region.data + 1, region.bytes - 1) == 0);
  }
};

struct Options {
  int clients = 3;
  std::uint32_t homes = 1;
  std::uint64_t chunks = 0;
  std::int64_t iterations = 30;
  std::int64_t in_flight = 8;
  bool holds = false;    ///< clients hold blocks until they have filled the next iteration
  bool give_up = false;  ///< clients sometimes give a block back without committing it
  bool in_step = false;  ///< the simulation keeps clients in step: none starts before all have ended the last iteration
};

class Run;

class Client {
 public:
  Client(Run& run, int number, std::uint64_t home);
  /// Does one action. False if it could not, because there is no room or it must wait for others.
  bool step();
  [[nodiscard]] bool done() const;
  [[nodiscard]] std::int64_t ended() const { return current_; }
  void check_released(std::int64_t count);
  /// Bytes that are still in use when everything is released.
  [[nodiscard]] std::uint64_t used_after_all() {
    heap_->release_upto(current_);
    return heap_->bytes_used();
  }

 private:
  void plan();
  void end();

  Run& run_;
  int number_;
  std::uint64_t home_;
  std::unique_ptr<ClientHeap> heap_;
  std::vector<std::uint64_t> to_come_;  ///< sizes of this iteration's blocks, in the order in which they come
  std::vector<Live> live_;
  std::int64_t current_ = 0;
};

/// Clients, and a server that releases iterations in order, as late as possible, once all have ended them.
class Run {
 public:
  Run(const Options& chosen, unsigned seed) : options(chosen), random(seed) {
    std::vector<Extents> extents;
    for (int c = 0; c < options.clients; ++c) extents.push_back({random() % (40 * page), options.homes, 0, 0});
    const std::uint64_t bytes = Arena::minimum_bytes(extents) + options.chunks * chunk;
    memory = std::make_unique<SharedMemory>(bytes);
    Arena::create(memory->data(), bytes, extents);
    arena = std::make_unique<Arena>(memory->data());
    for (int c = 0; c < options.clients; ++c) {
      clients.push_back(std::make_unique<Client>(*this, c, arena->extents(c).home));
    }
  }

  /// Runs to the end. False if nobody could go on.
  bool finish() {
    for (;;) {
      std::vector<Client*> going;
      for (auto& client : clients) {
        if (!client->done()) going.push_back(client.get());
      }
      if (going.empty()) return true;
      std::shuffle(going.begin(), going.end(), random);
      if (random() % 20 == 0) release();
      const bool moved = std::any_of(going.begin(), going.end(), [](Client* client) { return client->step(); });
      if (!moved && !release()) return false;
    }
  }
  /// Lets the server release an iteration. False if there is none.
  bool release() {
    for (const auto& client : clients) {
      if (client->ended() <= released) return false;
    }
    ++released;
    for (auto& client : clients) client->check_released(released);
    return true;
  }

  Options options;
  std::mt19937 random;
  std::unique_ptr<SharedMemory> memory;
  std::unique_ptr<Arena> arena;
  std::vector<std::unique_ptr<Client>> clients;
  std::int64_t released = 0;
  std::uint64_t torn = 0, refused = 0, blocks = 0;
};

Client::Client(Run& run, int number, std::uint64_t home)
    : run_(run), number_(number), home_(home), heap_(std::make_unique<ClientHeap>(*run.arena, number)) {
  plan();
}

bool Client::done() const { return current_ >= run_.options.iterations; }

/// Chooses blocks of random sizes, which together fit into a home.
void Client::plan() {
  to_come_.clear();
  std::uint64_t small = 0, large = 0;
  for (int tries = static_cast<int>(run_.random() % 25); tries > 0; --tries) {
    const std::uint64_t bytes = run_.random() % 3 ? run_.random() % 3000 : run_.random() % (12 * page);
    const std::uint64_t footprint = block_footprint(bytes);
    (footprint % page ? small : large) += footprint;
    if ((small + page - 1) / page * page + large > home_) break;
    to_come_.push_back(bytes);
  }
  std::shuffle(to_come_.begin(), to_come_.end(), run_.random);
}

bool Client::step() {
  if (current_ - run_.released >= run_.options.in_flight) return false;
  if (run_.options.in_step) {
    for (const auto& client : run_.clients) {
      if (client->ended() < current_) return false;
    }
  }
  heap_->release_upto(run_.released);
  if (to_come_.empty()) {
    end();
    return true;
  }
  const auto region = heap_->reserve(to_come_.back());
  if (!region) {
    ++run_.refused;
    REQUIRE_FALSE(heap_->stuck());  // an iteration that fits into a home never gets stuck
    return false;
  }
  Live block{*region, static_cast<std::uint8_t>(run_.random()), current_, run_.options.holds && run_.random() % 2 == 0};
  block.fill();
  if (run_.options.give_up && run_.random() % 8 == 0) {
    heap_->clear(*region);
    to_come_.pop_back();
    return true;
  }
  to_come_.pop_back();
  heap_->commit(*region, block.held);
  live_.push_back(block);
  ++run_.blocks;
  return true;
}

void Client::end() {
  ++current_;
  for (Live& block : live_) {
    if (!block.held || block.iteration >= current_ - 1) continue;
    run_.torn += !block.intact();
    heap_->clear(block.region);
    block.held = false;
  }
  check_released(run_.released);
  heap_->begin_iteration(current_);
  plan();
}

/// Checks blocks that are released and not held for the last time.
void Client::check_released(std::int64_t count) {
  std::erase_if(live_, [&](const Live& block) {
    if (block.held || block.iteration >= count) return false;
    run_.torn += !block.intact();
    return true;
  });
}

void sweep(Options options, unsigned seeds) {
  std::uint64_t blocks = 0, refused = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    Run run(options, seed);
    REQUIRE(run.finish());
    while (run.release()) {
    }
    REQUIRE(run.torn == 0);
    blocks += run.blocks;
    refused += run.refused;
    if (options.holds) continue;
    for (auto& client : run.clients) {
      REQUIRE(client->used_after_all() == 0);
    }
    REQUIRE(test::free_chunks(*run.arena) == run.arena->chunks());
  }
  MESSAGE(blocks << " blocks, " << refused << " times without room");
  CHECK(blocks > 1000);
}

}  // namespace

TEST_CASE("one home each and no pool: progress, whole blocks, nothing left over") { sweep({}, 60); }

TEST_CASE("with a pool that is too small for all") {
  Options options;
  for (const std::uint64_t chunks : {1, 3, 10}) {
    options.chunks = chunks;
    sweep(options, 40);
  }
}

TEST_CASE("with a pool that is large enough") {
  Options options;
  options.chunks = 100;
  sweep(options, 30);
}

TEST_CASE("one client, and many") {
  Options options;
  options.chunks = 4;
  options.clients = 1;
  sweep(options, 60);
  options.clients = 12;
  sweep(options, 15);
}

TEST_CASE("clients that the simulation keeps in step") {
  Options options;
  options.in_step = true;
  options.chunks = 2;
  sweep(options, 40);
}

TEST_CASE("one iteration in flight, and 64") {
  Options options;
  options.chunks = 3;
  options.iterations = 100;
  for (const std::int64_t in_flight : {1, 64}) {
    options.in_flight = in_flight;
    sweep(options, 20);
  }
}

TEST_CASE("blocks given back without being committed") {
  Options options;
  options.give_up = true;
  options.chunks = 3;
  sweep(options, 40);
}

TEST_CASE("two homes: arrays held until the next iteration is filled") {
  Options options;
  options.holds = true;
  options.homes = 2;
  for (const std::uint64_t chunks : {0, 3}) {
    options.chunks = chunks;
    sweep(options, 40);
  }
  options.in_step = true;
  sweep(options, 40);
}
