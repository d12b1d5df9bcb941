// Checks of room, iterations in flight, regions and closing.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "sidestream/conformance/check.hpp"
#include "sidestream/error.hpp"

namespace sidestream::conformance {

/// Base of checks in which each client publishes one block of equal size per iteration, if there is room. Servers
/// release nothing until `held` iterations have come.
class Blocks : public Check {
 public:
  static constexpr Index cells = 40'000;
  Blocks(const Harness& harness, Report& report, std::int64_t count, std::int64_t held)
      : Check(harness, report, count), held_(harness.both() ? 0 : held) {}

 protected:
  [[nodiscard]] BlockRecord record(int client, std::int32_t variable = 0) const {
    const Variable what = variables()[static_cast<std::size_t>(variable)];
    BlockRecord record;
    record.block.id = client;
    record.block.client = client;
    record.block.cells = Box{{0, 0, 0}, {cells, 1, 1}};
    record.variable = variable;
    record.type = what.type;
    record.centering = what.centering;
    record.persistent = what.time_varying ? 0 : 1;
    record.box = record.points();
    record.bytes = bytes_of_box(record.box, 1, record.type);
    return record;
  }
  [[nodiscard]] bool may_serve(std::int64_t n) override { return server_->state(std::max(n, held_ - 1)).pending == 0; }
  /// Publishes one block. Returns false if there was no room.
  [[nodiscard]] bool put(ClientTransport& transport, std::int64_t n, bool hold = false, Region* where = nullptr) {
    const BlockRecord what = record(harness_.client);
    if (n == 0) transport.declare(what.block, false);
    const std::optional<Region> region = transport.reserve(what.bytes, false);
    if (!region) return false;
    World::fill(what, n, region->data);
    transport.commit(what, *region, hold);
    if (where) *where = *region;
    return true;
  }
  void finish(ClientTransport& transport, std::int64_t n, std::uint32_t refused = 0) {
    EndRecord end;
    end.iteration = {n, n, 0};
    end.client = harness_.client;
    end.refused = refused;
    if (refused) end.refusing = harness_.client;
    transport.end(end);
  }
  /// Compares every client's block of `variable`, unless some client refused the iteration. The outcome is the same on
  /// all servers.
  void serve(ServerTransport& transport, std::int64_t n) override {
    transport.advance(n);
    std::int64_t refused =
        transport.traits().clients > 0 ? static_cast<std::int64_t>(transport.state(n).inbox.end.refused) : 0;
    harness_.group->maximum(std::span(&refused, 1));
    if (refused == 0) compare(transport, n, 0, n);
    agree();
    transport.release(n, refused ? Outcome::refused : Outcome::delivered);
  }
  void compare(ServerTransport& transport, std::int64_t n, std::int32_t variable, std::int64_t version) {
    std::vector<std::pair<BlockRecord, const std::byte*>> all;
    if (transport.traits().values_in_place) {
      const auto& arrivals =
          variable == kept_variable ? transport.state(n).tables.persistent : transport.state(n).inbox.blocks;
      for (const Arrival& arrival : arrivals) all.emplace_back(arrival.record, arrival.data);
    } else {
      std::vector<Wanted> wanted;
      for (int client = 0; client < harness_.clients; ++client) {
        const BlockRecord what = record(client, variable);
        wanted.push_back({what.block, variable, 0, what.points()});
      }
      const std::vector<const std::byte*> got = transport.fetch(n, wanted, false);
      for (int c = 0; c < harness_.clients; ++c)
        all.emplace_back(record(c, variable), got[static_cast<std::size_t>(c)]);
    }
    for (const auto& [what, data] : all) {
      std::vector<std::byte> expected(what.bytes);
      World::fill(what, version, expected.data());
      expect(data && std::memcmp(data, expected.data(), what.bytes) == 0, n, "values are not what was published");
    }
  }

  std::int64_t held_;
};

/// Checks `when_full: skip`: iterations are accepted up to the limit in flight, then none until one is released. A
/// client may learn of an outcome a moment before the release, so it may have to try several times.
class InFlight final : public Blocks {
 public:
  InFlight(const Harness& harness, Report& report) : Blocks(harness, report, 10, 3) {}

 protected:
  [[nodiscard]] Needs needs() const override { return {WhenFull::skip, 2, 4 * record(0).bytes, false}; }
  void publish(ClientTransport& transport, std::int64_t n) override {
    if (n >= 3) await_outcomes(transport, n);
    const bool begun = transport.begin();
    if (n < 3) expect(begun == (n != 2 || harness_.both()), n, "begin does not count what is in flight");
    begun_again_ |= n >= 3 && begun;
    finish(transport, n, begun ? std::uint32_t{0} : std::uint32_t{in_flight});
  }
  void serve(ServerTransport& transport, std::int64_t n) override {
    transport.advance(n);
    const bool mine = transport.traits().clients > 0 && transport.state(n).inbox.end.refused != 0;
    if (transport.traits().clients > 0 && n < 3) expect(mine == (n == 2 && !harness_.both()), n, "another refusal");
    std::int64_t refused = mine;
    harness_.group->maximum(std::span(&refused, 1));
    transport.release(n, refused ? Outcome::refused : Outcome::delivered);
  }
  void check_end(ClientTransport& transport) override {
    await_outcomes(transport, iterations_);
    expect(outcome(2) == (harness_.both() ? Outcome::delivered : Outcome::refused), "the outcome of what was refused");
    expect(begun_again_, "begin goes on refusing after a release");
  }

 private:
  bool begun_again_ = false;
};

/// Checks a client that publishes more than fits into the room.
class Room final : public Blocks {
 public:
  static constexpr std::int64_t count = Needs::too_many + 2;
  Room(const Harness& harness, Report& report, WhenFull when_full)
      : Blocks(harness, report, count + 1, when_full == WhenFull::skip ? count : 0), when_full_(when_full) {}

 protected:
  [[nodiscard]] Needs needs() const override {
    return {when_full_, 2 * static_cast<int>(count), record(0).bytes, false};
  }
  void publish(ClientTransport& transport, std::int64_t n) override {
    if (n == count) await_outcomes(transport, count);
    expect(transport.begin(), n, "begin refuses although less is in flight than may be");
    if (n == 0) ask_for_too_much(transport);
    bool fits = put(transport, n);
    if (n == count && !fits) {
      await([&] { return fits = put(transport, n); }, [&] { look(transport); }, "room after everything was released");
    }
    if (n == 0 || n == count || when_full_ == WhenFull::wait) expect(fits, n, "no room although there should be");
    refused_here_ += !fits;
    finish(transport, n, fits ? std::uint32_t{0} : std::uint32_t{no_room});
  }
  void check_end(ClientTransport& transport) override {
    await_outcomes(transport, iterations_);
    if (when_full_ == WhenFull::skip && !harness_.both()) {
      expect(refused_here_ > 0, "room for far more than was asked for");
      expect(transport.status().waited < 1, "a client waits under WhenFull::skip");
    }
    if (when_full_ == WhenFull::skip) return;
    for (std::int64_t n = 0; n < iterations_; ++n) expect(outcome(n) == Outcome::delivered, n, "it is not delivered");
  }

 private:
  void ask_for_too_much(ClientTransport& transport) {
    bool thrown = false;
    try {
      static_cast<void>(transport.reserve(std::uint64_t{1} << 50, false));
    } catch (const Error& error) {
      thrown = error.code() == Code::full;
    }
    expect(thrown, "a block that can never fit is not refused with Error(full)");
  }
  WhenFull when_full_;
  std::int64_t refused_here_ = 0;
};

/// Checks a region that the client reads until `clear`, and one that it never commits.
class Hold final : public Blocks {
 public:
  Hold(const Harness& harness, Report& report) : Blocks(harness, report, 6, 0) {}

 protected:
  [[nodiscard]] Needs needs() const override { return {WhenFull::wait, 2, 4 * record(0).bytes, true}; }
  void publish(ClientTransport& transport, std::int64_t n) override {
    expect(transport.begin(), n, "begin does not wait");
    if (n == 1) {
      const std::optional<Region> unused = transport.reserve(record(harness_.client).bytes, false);
      expect(unused.has_value(), n, "no room");
      if (unused) transport.clear(*unused);
    }
    expect(put(transport, n, n == 0, n == 0 ? &held_region_ : nullptr), n, "no room");
    finish(transport, n);
    if (n < 4) {
      std::vector<std::byte> expected(record(harness_.client).bytes);
      World::fill(record(harness_.client), 0, expected.data());
      expect(std::memcmp(held_region_.data, expected.data(), expected.size()) == 0, n, "a region changed before clear");
    }
    if (n == 4) transport.clear(held_region_);
  }

 private:
  Region held_region_;
};

/// Replaces arrays that do not vary in time if there is no room for two of them.
class Retire final : public Blocks {
 public:
  Retire(const Harness& harness, Report& report) : Blocks(harness, report, 4, 0) {}

 protected:
  [[nodiscard]] Needs needs() const override { return {WhenFull::wait, 2, 3 * record(0).bytes, false}; }
  void publish(ClientTransport& transport, std::int64_t n) override {
    await_outcomes(transport, n);
    expect(transport.begin(), n, "begin does not wait");
    const BlockRecord what = record(harness_.client, kept_variable);
    if (n == 0) transport.declare(what.block, false);
    if (n == 0) {
      expect(!transport.retire(what), n, "retire finds an array although there is none");
    } else {
      await([&] { return transport.retire(what); }, [&] { look(transport); }, "an array that can be retired");
    }
    const std::optional<Region> region = transport.reserve(what.bytes, true);
    expect(region.has_value(), n, "no room");
    if (region) {
      World::fill(what, n, region->data);
      transport.commit(what, *region, false);
    }
    finish(transport, n);
  }
  void serve(ServerTransport& transport, std::int64_t n) override {
    transport.advance(n);
    compare(transport, n, kept_variable, n);
    agree();
    transport.release(n, Outcome::delivered);
  }
};

/// Checks that a client gives up in `drain` when the servers do not continue.
class Abandoned final : public Blocks {
 public:
  Abandoned(const Harness& harness, Report& report) : Blocks(harness, report, 2, 0) {}

 protected:
  void publish(ClientTransport& transport, std::int64_t n) override {
    expect(transport.begin(), n, "begin refuses");
    finish(transport, n);
  }
  [[nodiscard]] bool may_serve(std::int64_t n) override {
    return server_->traits().clients == 0 || (server_->state(0).abandoned && server_->state(n).pending == 0);
  }
  void serve(ServerTransport& transport, std::int64_t n) override {
    transport.advance(n);
    agree();
    transport.release(n, Outcome::refused);
  }
  void close(ClientTransport& transport) override { gave_up_ = !transport.drain(std::chrono::milliseconds(100)); }
  /// Checks that a client gave up. Once one has, others may learn of outcomes within their limit.
  void compare_all(Communicator& all) override {
    std::int64_t any = gave_up_;
    all.maximum(std::span(&any, 1));
    expect(any != 0, "drain does not say that its limit was over");
  }

 private:
  bool gave_up_ = false;
};

/// Checks a client that closes within an iteration.
class Unfinished final : public Blocks {
 public:
  Unfinished(const Harness& harness, Report& report) : Blocks(harness, report, harness.both() ? 1 : 2, 0) {}

 protected:
  void publish(ClientTransport& transport, std::int64_t n) override {
    if (n == 1 && harness_.client == 0) return;  // see close
    expect(transport.begin() && put(transport, n), n, "no room");
    finish(transport, n);
  }
  /// Client 0 leaves after it has handed over everything that a client can. It keeps one more region.
  void close(ClientTransport& transport) override {
    if (harness_.client == 0) {
      expect(transport.begin(), "begin refuses");
      const std::optional<Region> region = transport.reserve(record(0).bytes, false);
      if (region) transport.clear(*region);
      BlockRecord other = record(0);
      other.block.id = harness_.clients;
      transport.declare(other.block, false);
      expect(put(transport, 1), 1, "no room");
      Signal signal;
      signal.head.bytes = 8;
      signal.values.resize(8);
      transport.signal(signal);
    }
    Blocks::close(transport);
  }
  void serve(ServerTransport& transport, std::int64_t n) override {
    if (n == 0) return Blocks::serve(transport, n);
    transport.advance(n);
    std::array<std::int64_t, 2> counts{transport.traits().clients, transport.state(n).ended};
    harness_.group->sum(counts);
    const auto [senders, ended] = counts;
    // A forwarder ends an iteration for all its clients if some of them have ended it.
    const std::int64_t others = harness_.clients - 1;
    const bool right = senders == harness_.clients ? ended == others : (ended > 0) == (others > 0) && ended <= others;
    expect(right, n, "not the clients have ended it that did not leave before");
    if (ended > 0) transport.release(n, Outcome::refused);
  }
  void check_end(ClientTransport& transport) override {
    const std::int64_t count = harness_.client == 0 ? 1 : iterations_;
    await_outcomes(transport, count);
    expect(outcome(0) == Outcome::delivered, "what was ended before is not delivered");
    expect(count == 1 || outcome(1) == Outcome::refused, "what not all ended is not refused");
  }
};

}  // namespace sidestream::conformance
