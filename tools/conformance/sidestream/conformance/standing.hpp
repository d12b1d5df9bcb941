// Check of servers that want the same data in every iteration.
#pragma once

#include <random>
#include <vector>

#include "sidestream/conformance/values.hpp"

namespace sidestream::conformance {

/// A server announces the data that it will want, then wants other data.
class Standing final : public Check {
 public:
  static constexpr std::int64_t count = 24;
  Standing(const Harness& harness, Report& report, unsigned seed)
      : Check(harness, report, count),
        world_(seed, harness.clients, count, false),
        random_(seed + static_cast<unsigned>(harness.server + 1)) {}

 protected:
  [[nodiscard]] Needs needs() const override { return {WhenFull::wait, 4, World::most_bytes, false}; }
  void publish(ClientTransport& transport, std::int64_t n) override {
    expect(transport.begin(), n, "begin does not wait for room");
    publish_step(transport, world_, n, harness_.client, report_);
    EndRecord end;
    end.iteration = {n, n, 0};
    end.client = harness_.client;
    if (n % 10 == 5 && harness_.client == 0) end.refused = call_failed, end.refusing = 0;
    transport.end(end);
  }
  void serve(ServerTransport& transport, std::int64_t n) override {
    transport.advance(n);
    const bool refused = n % 10 == 5;
    if (!refused && !transport.traits().values_in_place) {
      Values values(transport, report_, world_, n);
      if (n == 0 || n == 12) wanted_ = values.some(random_);
      if (n != 18) values.fetch(wanted_, n == 1 || n == 13);
      // Data in addition to the announced ones, and instead of them.
      if (n == 8 || n == 18) values.fetch(values.some(random_));
      if (n == 9) values.fetch(wanted_);
      values.compare();
      agree();
      if (n % 2 == 0) transport.release(n, Outcome::pending);
      values.compare();
    }
    agree();
    transport.release(n, refused ? Outcome::refused : Outcome::delivered);
  }
  void check_end(ClientTransport& transport) override {
    await_outcomes(transport, count);
    for (std::int64_t n = 0; n < count; ++n) {
      expect(outcome(n) == (n % 10 == 5 ? Outcome::refused : Outcome::delivered), n, "another outcome");
    }
  }

 private:
  World world_;
  std::mt19937 random_;
  std::vector<Wanted> wanted_;
};

}  // namespace sidestream::conformance
