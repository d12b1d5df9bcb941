// Common parts of the checks of transports: their input, their course and their reports.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sidestream/conformance/world.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream::conformance {

/// Requirements that a transport has to meet.
struct Needs {
  WhenFull when_full = WhenFull::wait;
  int max_in_flight = 4;
  /// Most bytes that a client publishes in one iteration, including arrays that do not vary in time. A client must have
  /// room for them. All clients together must not have room for `too_many` times as much for each client.
  std::uint64_t bytes = World::most_bytes;
  static constexpr int too_many = 8;
  bool holds = false;  ///< a client keeps arrays of one iteration (`hold`) while it publishes others
};

/// The ends on this process; null where it has none.
struct Ends {
  std::shared_ptr<ClientTransport> client;
  std::shared_ptr<ServerTransport> server;
  std::function<void()> relay;  ///< passes messages on until all clients have closed, on a process that is neither
};

/// The properties of a transport and of the processes, for the checks. They are the same everywhere except `client`,
/// `server` and `group`.
struct Harness {
  int clients = 1, servers = 1;
  int client = -1;  ///< number of this process among the clients; -1: not a client
  int server = -1;  ///< likewise; if a process is both, each iteration is served when its client has ended it
  /// Makes the transport, which carries `variables()`. Collective over all processes.
  std::function<Ends(const Needs&)> make;
  /// Called on servers after `make`, while the clients begin, for servers that join a running simulation. May be empty.
  std::function<void(ServerTransport&)> start;
  Communicator* all = nullptr;    ///< all processes
  Communicator* group = nullptr;  ///< the servers; null where there is none
  /// Sets the function that is called while this process waits in `group`; empty: none is needed.
  std::function<void(std::function<void()>)> set_meanwhile;
  std::chrono::seconds patience{60};  ///< a wait that lasts longer is a failure

  [[nodiscard]] bool both() const noexcept { return client >= 0 && server >= 0; }
};

/// The failures found on this process.
class Report {
 public:
  void expect(bool holds, const std::string& what) {
    constexpr std::size_t most = 20;
    if (!holds && failures_.size() < most) failures_.push_back(check_ + ": " + what);
  }
  void begin(std::string check) { check_ = std::move(check); }
  [[nodiscard]] const std::vector<std::string>& failures() const noexcept { return failures_; }

 private:
  std::string check_;
  std::vector<std::string> failures_;
};

/// One check, in which clients publish data and servers use them. Derived classes define the details.
class Check {
 public:
  Check(const Harness& harness, Report& report, std::int64_t iterations)
      : harness_(harness), report_(report), iterations_(iterations) {}
  virtual ~Check() = default;
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;

  /// Runs the check. Collective over all processes.
  void run() {
    Ends ends = harness_.make(needs());
    if (ends.server) server_ = ends.server.get();
    if (server_ && harness_.set_meanwhile) {
      harness_.set_meanwhile([this] { static_cast<void>(server_->receive(std::chrono::microseconds(0))); });
    }
    if (server_ && harness_.start) harness_.start(*server_);
    if (ends.relay) ends.relay();
    for (std::int64_t n = 0; n < iterations_; ++n) {
      if (ends.client) {
        publish(*ends.client, n);
        look(*ends.client);
      }
      if (ends.server && harness_.both()) serve_one(n);
    }
    if (ends.client) close(*ends.client);
    for (std::int64_t n = 0; n < iterations_ && ends.server && !harness_.both(); ++n) serve_one(n);
    if (ends.server) finish();
    if (ends.client) {
      look(*ends.client);
      check_end(*ends.client);
    }
    compare_all(*harness_.all);
    if (harness_.set_meanwhile) harness_.set_meanwhile({});
    harness_.all->barrier();
    ends = {};
    harness_.all->barrier();
  }

 protected:
  [[nodiscard]] virtual Needs needs() const { return {}; }
  virtual void publish(ClientTransport& transport, std::int64_t n) = 0;
  /// Inspects the iteration, which all of this server's clients have ended, and releases it.
  virtual void serve(ServerTransport& transport, std::int64_t n) = 0;
  /// True if servers may begin with iteration `n`.
  [[nodiscard]] virtual bool may_serve(std::int64_t n) { return server_->state(n).pending == 0; }
  virtual void close(ClientTransport& transport) {
    expect(transport.drain(harness_.patience), "drain gives up although the servers work");
  }
  /// Called after `close`.
  virtual void check_end(ClientTransport& transport) { static_cast<void>(transport); }

  /// Called at the end. Collective over all processes.
  virtual void compare_all(Communicator& all) { static_cast<void>(all); }

  void expect(bool holds, const std::string& what) { report_.expect(holds, what); }
  /// Reports a failure in an iteration.
  void expect(bool holds, std::int64_t n, const std::string& what) {
    if (!holds) report_.expect(false, "iteration " + std::to_string(n) + ": " + what);
  }
  /// Waits until `ready`, calling `look` in between.
  template <class Ready, class Look>
  void await(Ready&& ready, Look&& look, const char* what) {
    const auto end = std::chrono::steady_clock::now() + harness_.patience;
    while (!ready()) {
      look();
      if (std::chrono::steady_clock::now() < end) continue;
      expect(false, std::string("waited in vain for ") + what);
      throw std::runtime_error(report_.failures().back());
    }
  }
  /// Waits until all servers have reached this point.
  void agree() { harness_.group->barrier(); }
  /// Collects the outcomes that are known now. Asks for each outcome until it is known.
  void look(ClientTransport& transport) {
    for (std::int64_t n = 0; n < iterations_; ++n) {
      if (outcomes_.contains(n)) continue;
      const Outcome outcome = transport.outcome(n).outcome;
      if (outcome != Outcome::pending) outcomes_[n] = outcome;
    }
    News news = transport.news();
    for (Notice& notice : news.notices) notices_.push_back(std::move(notice));
    if (!news.failure.empty()) failure_ = news.failure;
  }
  void await_outcomes(ClientTransport& transport, std::int64_t until) {
    const auto known = [&] { return static_cast<std::int64_t>(outcomes_.size()) >= until; };
    if (until > 0) transport.await(until - 1);
    await(
        known,
        [&] {
          look(transport);
          std::this_thread::sleep_for(std::chrono::microseconds(200));
        },
        "outcomes");
  }
  [[nodiscard]] Outcome outcome(std::int64_t n) const {
    const auto found = outcomes_.find(n);
    return found == outcomes_.end() ? Outcome::pending : found->second;
  }

  const Harness& harness_;
  Report& report_;
  std::int64_t iterations_;
  ServerTransport* server_ = nullptr;
  std::map<std::int64_t, Outcome> outcomes_;
  std::vector<Notice> notices_;
  std::string failure_;

 private:
  void receive() { static_cast<void>(server_->receive(std::chrono::milliseconds(1))); }
  void serve_one(std::int64_t n) {
    await([&] { return may_serve(n); }, [&] { receive(); }, "clients");
    serve(*server_, n);
  }
  void finish() {
    await([&] { return server_->state(iterations_).pending == 0; }, [&] { receive(); }, "clients to close");
    server_->finish({});
    agree();
  }
};

}  // namespace sidestream::conformance
