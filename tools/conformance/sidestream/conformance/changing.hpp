// The check of a world that changes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "sidestream/conformance/values.hpp"
#include "sidestream/error.hpp"

namespace sidestream::conformance {

/// Checks everything at once in a world that changes: declarations, kept arrays, several fetches with different
/// requests, ranges, notices and failures. Iterations are refused by a client or because cycles differ.
class Mixed final : public Check {
 public:
  static constexpr std::int64_t count = 20;
  Mixed(const Harness& harness, Report& report, unsigned seed)
      : Check(harness, report, count),
        world_(seed, harness.clients, count, true),
        random_(seed + static_cast<unsigned>(harness.server + 1)) {}

 protected:
  [[nodiscard]] Needs needs() const override { return {WhenFull::wait, 3, World::most_bytes, false}; }

  void publish(ClientTransport& transport, std::int64_t n) override {
    expect(transport.begin(), n, "begin does not wait for room");
    publish_step(transport, world_, n, harness_.client, report_);
    transport.end(end_of(n, harness_.client));
  }

  void serve(ServerTransport& transport, std::int64_t n) override {
    transport.advance(n);
    compare_table(transport, n);
    compare_end(transport, n);
    const Outcome outcome = outcome_of(n);
    if (outcome != Outcome::refused) {
      compare_arrivals(transport, n);
      compare_ranges(transport, n);
      Values values(transport, report_, world_, n);
      if (transport.traits().values_in_place) {
        compare_at_hand(transport, values, n);
      } else {
        values.fetch(values.some(random_));
        values.fetch(values.some(random_));
        values.fetch({});
        values.compare();
        agree();
        if (n % 2 == 0) transport.release(n, Outcome::pending);
        values.compare();
      }
    }
    agree();
    tell(transport, n);
    transport.release(n, outcome);
  }

  void check_end(ClientTransport& transport) override {
    await_outcomes(transport, count);
    for (std::int64_t n = 0; n < count; ++n) expect(outcome(n) == outcome_of(n), n, "the client hears another outcome");
    expect(failure_.find("planned") != std::string::npos, "the servers' failure does not reach the client");
    std::int64_t last = -1;
    for (const Notice& notice : notices_) {
      const bool whole = notice.payload == payload(notice.iteration) && notice.iteration > last;
      expect(whole, notice.iteration, "a notice is not what was told, or comes out of order");
      last = notice.iteration;
    }
    heard_ = static_cast<std::int64_t>(notices_.size());
    expect(transport.status().waited >= 0, "waited less than nothing");
  }

  void compare_all(Communicator& all) override {
    std::int64_t words[] = {told_notices_, heard_};
    all.sum(words);
    expect(words[0] == words[1], "not all notices have come, or some twice");
  }

 private:
  [[nodiscard]] static bool refuses(std::int64_t n, int client) { return n % 7 == 3 && client == 0; }
  [[nodiscard]] EndRecord end_of(std::int64_t n, int client) const {
    EndRecord end;
    end.iteration = {n, 10 * n, 0.5 * static_cast<double>(n)};
    if (n % 9 == 5 && client > 0 && client + 1 == harness_.clients) ++end.iteration.cycle;
    if (n % 5 == 2 && client == 1) end.iteration.time += 0.25;
    if (n % 5 == 4) end.iteration.time = std::numeric_limits<double>::quiet_NaN();
    end.events = std::uint64_t{1} << ((n + client) % 7);
    end.absent = static_cast<std::uint64_t>(client % 3);
    end.ending = static_cast<std::uint32_t>((n + client) % 3);  // nothing, asked, or unasked
    end.client = client;
    if (refuses(n, client)) end.refused = call_failed, end.refusing = client;
    return end;
  }
  [[nodiscard]] Outcome outcome_of(std::int64_t n) const {
    if (n % 7 == 3 || (n % 9 == 5 && harness_.clients > 1)) return Outcome::refused;
    return n % 6 == 4 ? Outcome::failed : Outcome::delivered;
  }

  void compare_table(ServerTransport& transport, std::int64_t n) {
    for (const BlockChange& change : std::exchange(transport.state(n).tables.changes, {})) {
      if (change.removed) {
        told_.erase(change.block.id);
      } else {
        told_[change.block.id] = change.block;
      }
    }
    std::map<std::int64_t, Block> table;
    for (const Block& block : transport.state(n).tables.blocks) {
      expect(table.emplace(block.id, block).second, n, "a block is in the table twice");
      if (n == 0) mine_.insert(block.client);
    }
    std::map<std::int64_t, Block> expected;
    for (const auto& [id, block] : world_.blocks(n)) {
      if (mine_.contains(block.client)) expected.emplace(id, block);
    }
    expect(table == expected, n, "the table of blocks is not what this server's clients declared");
    expect(told_ == expected, n, "the changes do not make the table");
    expect(!mine_.empty() || transport.traits().clients == 0, n, "a server's clients have no block");
  }

  void compare_end(ServerTransport& transport, std::int64_t n) {
    expect(transport.state(n).pending == 0, n, "clients are pending that have ended it");
    expect(transport.state(n).ended == transport.traits().clients, n, "not all clients have ended it");
    const Inbox& inbox = transport.state(n).inbox;
    expect(inbox.ended == transport.traits().clients, n, "the inbox counts other clients that have ended it");
    if (mine_.empty()) return;
    const EndRecord first = end_of(n, *mine_.begin());
    EndRecord all = first;
    bool other_times = false;
    for (auto client = std::next(mine_.begin()); client != mine_.end(); ++client) {
      const EndRecord one = end_of(n, *client);
      all.events |= one.events;
      all.absent += one.absent;
      all.refused |= one.refused;
      all.ending |= one.ending;
      if (all.refusing < 0) all.refusing = one.refusing;
      if (one.iteration.cycle != first.iteration.cycle) all.mismatch = 1;
      other_times |= bits(one.iteration.time) != bits(first.iteration.time);
    }
    const EndRecord& end = inbox.end;
    expect(end.iteration.index == n && end.iteration.cycle == first.iteration.cycle, n, "another index or cycle");
    expect(bits(end.iteration.time) == bits(first.iteration.time), n, "not the time of the first client");
    expect(end.client == first.client, n, "not the first client");
    expect(end.events == all.events && end.absent == all.absent, n, "events and absent blocks are not added up");
    expect(end.ending == all.ending, n, "what clients know of the end of the run is not merged");
    expect(end.refused == all.refused && end.refusing == all.refusing, n, "refusals are not merged");
    expect(end.mismatch == all.mismatch, n, "cycles that differ are not noticed, or some that do not");
    expect((end.other >= 0) == other_times, n, "times that differ are not noticed, or some that do not");
    if (end.other < 0) return;
    const bool is_one = mine_.contains(end.other) &&
                        bits(end.other_time) == bits(end_of(n, end.other).iteration.time) &&
                        bits(end.other_time) != bits(first.iteration.time);
    expect(is_one, n, "`other` did not give the time that it is said to have given");
  }

  void compare_arrivals(ServerTransport& transport, std::int64_t n) {
    std::set<Publication> expected, found;
    for (const int client : mine_) {
      for (const Publication& what : world_.step(n, client).publications) {
        if (what.variable != kept_variable) expected.insert(what);
      }
    }
    for (const Arrival& arrival : transport.state(n).inbox.blocks) {
      found.insert({arrival.record.variable, arrival.record.block.id});
      compare_record(arrival, n);
    }
    expect(found == expected && transport.state(n).inbox.blocks.size() == expected.size(), n,
           "the blocks that arrived are not those that were published");
    std::set<std::int64_t> kept, kept_here;
    for (const auto& [id, block] : world_.blocks(n)) {
      if (mine_.contains(block.client) && world_.version(n, kept_variable, id) >= 0) kept.insert(id);
    }
    for (const Arrival& arrival : transport.state(n).tables.persistent) {
      kept_here.insert(arrival.record.block.id);
      compare_record(arrival, n);
    }
    expect(kept == kept_here && transport.state(n).tables.persistent.size() == kept.size(), n,
           "the arrays that are kept are not the newest of each block");
  }

  void compare_record(const Arrival& arrival, std::int64_t n) {
    const BlockRecord& record = arrival.record;
    const std::int64_t version = world_.version(n, record.variable, record.block.id);
    if (version < 0) return;  // counted elsewhere
    const BlockRecord published = world_.record(n, {record.variable, record.block.id});
    const bool same = record.block == published.block && record.components == published.components &&
                      record.type == published.type && record.centering == published.centering &&
                      record.role == published.role && record.box.contains(record.points());
    expect(same, n, "a record is not what was published");
    expect(arrival.since == version, n, "a block is said to come from another iteration");
  }

  void compare_at_hand(ServerTransport& transport, const Values& values, std::int64_t n) {
    for (const Arrival& arrival : transport.state(n).inbox.blocks) values.compare(arrival);
    for (const Arrival& arrival : transport.state(n).tables.persistent) {
      if (world_.version(n, kept_variable, arrival.record.block.id) >= 0) values.compare(arrival);
    }
  }

  void compare_ranges(ServerTransport& transport, std::int64_t n) {
    const RangeRequest requests[] = {{1, 1}, {kept_variable, 0}};
    std::set<Publication> expected, found;
    for (const auto& [id, block] : world_.blocks(n)) {
      for (const RangeRequest& request : requests) {
        const bool here =
            mine_.contains(block.client) && !block.empty() && world_.version(n, request.variable, id) >= 0;
        if (here) expected.insert({request.variable, id});
      }
    }
    std::vector<RangeRegion> regions;
    for (const auto& [variable, id] : expected) add_regions(n, variable, id, regions);
    const MeasuredRanges measured = transport.ranges(n, requests, regions);
    compare_regions(n, regions, measured.regions);
    for (const BlockRange& range : measured.blocks) {
      expect(found.insert({range.variable, range.block}).second, n, "a range comes twice");
      if (!expected.contains({range.variable, range.block})) continue;
      const Box points = variables()[static_cast<std::size_t>(range.variable)].points(world_.blocks(n).at(range.block));
      BlockRange brute = brute_range(n, range.variable, range.block, points);
      expect(range.all == brute.all && range.lowest == brute.lowest, n, "a range is not that of the values");
    }
    expect(found == expected, n, "the ranges are not those of this server's blocks");
  }

  /// Some boxes of a block, among them an empty one.
  void add_regions(std::int64_t n, std::int32_t variable, std::int64_t id, std::vector<RangeRegion>& regions) {
    const Block& block = world_.blocks(n).at(id);
    RangeRegion region{id, id, RangeRegion::Kind::cells, block.client, variable, variable == 1 ? 1 : 0, -1, -1, {}};
    for (unsigned more = random_() % 4; more > 0; --more) {
      region.points = variables()[static_cast<std::size_t>(variable)].points(block);
      region.kind = RangeRegion::Kind::rim;
      for (std::size_t a = 0; a < 3; ++a) {
        const auto extent = static_cast<unsigned>(region.points.extent(static_cast<int>(a)));
        if (extent == 0) continue;
        region.points.lo[a] += random_() % extent;
        region.points.hi[a] -= random_() % extent;
      }
      regions.push_back(region);
    }
  }
  void compare_regions(std::int64_t n, const std::vector<RangeRegion>& regions, const std::vector<Range>& found) {
    expect(found.size() == regions.size(), n, "not every region has a range");
    for (std::size_t r = 0; r < std::min(found.size(), regions.size()); ++r) {
      const Range brute = brute_range(n, regions[r].variable, regions[r].block, regions[r].points).all;
      const bool holds = brute.empty() || (found[r].minimum <= brute.minimum && found[r].maximum >= brute.maximum);
      expect(holds, n, "the range of a region misses some of its values");
    }
  }

  [[nodiscard]] BlockRange brute_range(std::int64_t n, std::int32_t variable, std::int64_t id,
                                       const Box& points) const {
    const std::int64_t version = world_.version(n, variable, id);
    const int component = variable == 1 ? 1 : 0;
    BlockRange range;
    if (points.empty()) return range;
    for_each_value(points, 1, Order::column, [&](Index i, Index j, Index k, int) {
      const double value = value_at(variable, id, version, i, j, k, component);
      range.all.add({value, value});
      const unsigned at = (i == points.lo[0] ? 1u : 0u) | (j == points.lo[1] ? 2u : 0u) | (k == points.lo[2] ? 4u : 0u);
      for (unsigned mask = 1; mask < 8; ++mask) {
        if ((at & mask) == mask) range.lowest[mask - 1].add({value, value});
      }
    });
    return range;
  }

  /// Posts a failure once, and a notice now and then.
  void tell(ServerTransport& transport, std::int64_t n) {
    if (n == 2) transport.post_failure("planned");
    if (n % 3 != 1) return;
    Notice notice{n, static_cast<std::uint32_t>(harness_.server), payload(n)};
    if (!transport.notify(notice)) return;
    told_notices_ += static_cast<std::int64_t>(mine_.size());
    notice.payload.resize(longest_notice + 1);
    bool thrown = false;
    try {
      static_cast<void>(transport.notify(notice));
    } catch (const Error& error) {
      thrown = error.code() == Code::usage;
    }
    expect(thrown, n, "a notice that is too long is not refused with Error(usage)");
  }
  [[nodiscard]] static std::vector<std::byte> payload(std::int64_t n) {
    return std::vector<std::byte>(static_cast<std::size_t>(n * 409) % (longest_notice + 1), static_cast<std::byte>(n));
  }
  [[nodiscard]] static std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

  World world_;
  std::mt19937 random_;
  std::set<int> mine_;  ///< the clients of this server
  std::map<std::int64_t, Block> told_;
  std::int64_t told_notices_ = 0, heard_ = 0;
};

}  // namespace sidestream::conformance
