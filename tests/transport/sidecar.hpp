// A simulation with one client, and a server, for the placement `sidecar`, without MPI, for tests that kill them.
#pragma once

#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "transport/processes.hpp"
#include "transport/quiet.hpp"
#include "transport/shared_memory/sidecar/sidecar_client.hpp"
#include "transport/shared_memory/sidecar/sidecar_server.hpp"

namespace sidestream::test {

/// A group of one.
class Alone final : public Communicator {
 public:
  [[nodiscard]] int rank() const noexcept override { return 0; }
  [[nodiscard]] int size() const noexcept override { return 1; }
  void barrier() override {}
  void sum(std::span<std::int64_t>) override {}
  void minimum(std::span<std::int64_t>) override {}
  void minimum(std::span<double>) override {}
  void maximum(std::span<std::int64_t>) override {}
  void maximum(std::span<double>) override {}
  void bit_or(std::span<std::uint64_t>) override {}
  [[nodiscard]] std::vector<Bytes> gather(BytesView mine, int) override { return {Bytes(mine.begin(), mine.end())}; }
  [[nodiscard]] std::vector<Bytes> all_gather(BytesView mine) override { return {Bytes(mine.begin(), mine.end())}; }
  void broadcast(Bytes&, int) override {}
  [[nodiscard]] std::vector<Bytes> all_to_all(const std::vector<Bytes>& to) override { return to; }
  [[nodiscard]] std::vector<MemberMessage> exchange(std::vector<MemberMessage> to) override { return to; }
  [[nodiscard]] std::int64_t exclusive_sum(std::int64_t) override { return 0; }
  [[nodiscard]] std::unique_ptr<Communicator> split(int color) override {
    return color < 0 ? nullptr : std::make_unique<Alone>();
  }
  [[nodiscard]] void* native() noexcept override { return nullptr; }
};

inline std::shared_ptr<shared_memory::Node> make_node(int servers, const shared_memory::Extents& extents,
                                                      std::uint64_t buffer) {
  Alone alone;
  return shared_memory::Node::without_servers(alone, {false, 0, 1, servers}, extents, buffer);
}

/// Counters in shared memory, which the processes and the test exchange.
struct Ledger {
  std::atomic<std::int64_t> stop{0};                            ///< set by the test: the simulation should end
  std::atomic<std::int64_t> iterations{0}, attached{0};         ///< simulation
  std::atomic<std::int64_t> delivered{0}, refused{0}, lost{0};  ///< simulation, when it has ended
  std::atomic<std::int64_t> wrong{0}, leaked{0};                ///< both; simulation
  std::atomic<int> wrong_at{0};                                 ///< the line of this file that found an error
  /// Iterations, blocks and arrays that servers have checked.
  std::atomic<std::int64_t> served{0}, blocks{0}, kept_arrays{0};

  void expect(bool right, int line = __builtin_LINE()) {
    if (right) return;
    ++wrong;
    wrong_at = line;
  }
};

// Blocks 0 and 1 are published in every iteration, block 2 in every other group of seven iterations. Each has variable
// 0. Variable 1 on block 0 does not vary in time, and is published anew every fifty iterations.
constexpr std::int64_t kept_period = 50;
inline bool has_third(std::int64_t i) { return (i / 7) % 2 == 1; }
inline std::uint64_t words_of(std::int64_t block) { return 700 + 900 * static_cast<std::uint64_t>(block); }
inline std::uint64_t seed_of(std::int64_t i, std::int64_t block) {
  return scramble(static_cast<std::uint64_t>(i * 100 + block));
}
inline std::uint64_t kept_seed(std::int64_t i) { return seed_of(i / kept_period * kept_period, 77); }
inline Block block_of(std::int64_t id) { return Block{id, 0, 0, 0, IndexSpace::box, Box{{id, 0, 0}, {id + 1, 1, 1}}}; }

inline void fill(std::byte* data, std::uint64_t words, std::uint64_t seed) {
  for (std::uint64_t n = 0; n < words; ++n) {
    const std::uint64_t word = scramble(seed + n);
    std::memcpy(data + 8 * n, &word, 8);
  }
}

inline bool holds(const std::byte* data, std::uint64_t words, std::uint64_t seed) {
  for (std::uint64_t n = 0; n < words; ++n) {
    const std::uint64_t word = scramble(seed + n);
    if (std::memcmp(data + 8 * n, &word, 8) != 0) return false;
  }
  return true;
}

/// The simulation. `step_us` is the time of computation in one iteration.
class Simulation {
 public:
  Simulation(const std::string& name, WhenFull when_full, Ledger& ledger)
      : node_(make_node(1, {32 << 10, 1, 0, 32 << 10}, 384 << 10)),
        listener_(std::make_shared<shared_memory::Listener>(name, node_, shared_memory::ListenerOffer{})),
        client_(node_, listener_, when_full, 8, {}, false),
        ledger_(ledger) {}

  void run(long step_us) {
    for (std::int64_t b = 0; b < 2; ++b) client_.declare(block_of(b), false);
    while (ledger_.stop.load() == 0) iterate(step_us);
    // There are no servers now, so that the pool must hold nothing that dead ones were given.
    while (attached()) sleep_us(100);
    iterate(0, true);
    ledger_.leaked += static_cast<std::int64_t>(node_->arena().chunks() - free_chunks(node_->arena()));
    ledger_.expect(client_.drain(std::chrono::seconds(5)));
    settle();
    ledger_.expect(settled_ == index_);
  }

 private:
  [[nodiscard]] bool attached() const {
    using shared_memory::ServiceState;
    return ServiceState::phase_of(node_->layout().service(node_->control()).load()) == ServiceState::Phase::attached;
  }

  void iterate(long step_us, bool touch_heap = false) {
    bool ready = client_.begin();
    ledger_.attached += ready;
    if (index_ > 0 && has_third(index_) != has_third(index_ - 1)) client_.declare(block_of(2), !has_third(index_));
    // Under `skip` with slow servers there may be no room for this array. Then it is published later, and no iteration
    // counts before.
    owes_ |= index_ % kept_period == 0;
    if (owes_) owes_ = !publish(0, 1, kept_seed(index_), true);
    ready &= !owes_;
    for (std::int64_t b = 0; ready && b < (has_third(index_) ? 3 : 2); ++b) {
      ready = publish(b, 0, seed_of(index_, b), false);
    }
    if (touch_heap) {
      if (const auto region = client_.reserve(64, true)) client_.clear(*region);
    }
    if (step_us > 0) sleep_us(step_us);
    EndRecord end;
    end.iteration = {index_, index_, 0.0};
    end.refused = !ready;
    client_.end(end);
    refused_here_.push_back(!ready);
    ledger_.iterations = ++index_;
    settle();
  }

  bool publish(std::int64_t block, std::int32_t variable, std::uint64_t seed, bool persistent) {
    BlockRecord record;
    record.block = block_of(block);
    record.variable = variable;
    record.bytes = words_of(block) * 8;
    record.persistent = persistent;
    const auto region = client_.reserve(record.bytes, persistent);
    if (!region) return false;
    fill(region->data, words_of(block), seed);
    client_.commit(record, *region, false);
    return true;
  }

  void settle() {
    for (; settled_ < index_; ++settled_) {
      const Outcome outcome = client_.outcome(settled_).outcome;
      const bool mine = refused_here_[static_cast<std::size_t>(settled_)];
      if (outcome == Outcome::pending) return;
      if (outcome == Outcome::delivered) {
        ++ledger_.delivered;
        ledger_.expect(!mine);  // nobody can have delivered an iteration that this client refused
      } else {
        ++(outcome == Outcome::lost && !mine ? ledger_.lost : ledger_.refused);
      }
    }
  }

  std::shared_ptr<shared_memory::Node> node_;
  std::shared_ptr<shared_memory::Listener> listener_;
  shared_memory::SidecarClient client_;
  Ledger& ledger_;
  std::int64_t index_ = 0, settled_ = 0;
  std::vector<bool> refused_here_;
  bool owes_ = false;  ///< the array that does not vary in time must still be published
};

/// The point at which a server kills itself; see the table in docs/shared-memory.md.
enum class Death { never, welcomed, went, joined, received, announced, released };

/// Runs a server, which attaches, checks all that comes, and leaves after `most` iterations. Returns 0, or 1 if it
/// found no listener, 2 if the simulation closed, 3 if it died.
inline int serve(const std::string& name, Ledger& ledger, Death death, std::int64_t most, int most_tries = 20'000) {
  using shared_memory::Attachment;
  using shared_memory::AttachSignal;
  const auto die_at = [death](Death here) {
    if (death == here) raise(SIGKILL);
  };
  shared_memory::AttachRequest request;
  request.build = shared_memory::shared_memory_build();
  request.group = shared_memory::random_id();
  std::shared_ptr<Attachment> attachment;
  for (int tries = 0; !attachment; ++tries) {
    if (tries == most_tries) return 1;
    attachment = Attachment::attempt(name, request).attachment;
    if (!attachment) sleep_us(200);
  }
  die_at(Death::welcomed);
  attachment->signal(AttachSignal::go);
  die_at(Death::went);
  shared_memory::SidecarServer server(attachment);
  while (!server.joined() && !server.over()) server.receive(std::chrono::microseconds(200));
  const auto died = [&] { return attachment->ended() && !attachment->closed(); };
  if (!server.joined()) return died() ? 3 : 2;
  die_at(Death::joined);
  server.start_at(server.first());
  const std::int64_t first = server.first();
  for (std::int64_t i = first; i - first < most; ++i) {
    while (server.state(i).pending > 0) server.receive(std::chrono::microseconds(2000));
    if (server.state(i).ended == 0) return died() ? 3 : 2;
    server.advance(i);
    if (i > first) die_at(Death::received);
    const Inbox& inbox = server.state(i).inbox;
    const bool refused = inbox.end.refused != 0;
    const std::size_t expected = has_third(i) ? 3 : 2;
    ledger.expect(inbox.end.iteration.index == i && server.state(i).tables.blocks.size() == expected);
    ledger.expect(refused || inbox.blocks.size() == expected);
    for (const Arrival& arrival : inbox.blocks) {
      const std::int64_t id = arrival.record.block.id;
      ledger.expect(holds(arrival.data, words_of(id), seed_of(i, id)));
      ++ledger.blocks;
    }
    ledger.expect(refused || server.state(i).tables.persistent.size() == 1);
    for (const Arrival& arrival : server.state(i).tables.persistent) {
      ledger.expect(refused || holds(arrival.data, words_of(0), kept_seed(i)));
      ++ledger.kept_arrays;
    }
    if (i > first && death == Death::announced) {
      attachment->node()->layout().client(attachment->node()->control(), 0).announce(i, Outcome::delivered);
      raise(SIGKILL);
    }
    server.release(i, refused ? Outcome::refused : Outcome::delivered);
    ++ledger.served;
    if (i > first) die_at(Death::released);
  }
  attachment->signal(AttachSignal::leave);
  return 0;
}

}  // namespace sidestream::test
