// Servers' part of steering: takes up changes of steered parameters and tells the clients. docs/steering.md has the
// protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/steering.hpp"
#include "sidestream/extend/steering.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// A change requested by a user, with the value as typed.
struct SteeringRequest {
  std::string id;  ///< identifies the request in the answer
  std::string name, value;
};

/// Connection to users; used on the first server only. Its functions throw only if memory is short.
struct SteeringChannel {
  std::function<std::vector<SteeringRequest>()> requests;  ///< returns new requests, each once
  std::function<void(const std::string& id, const std::string& sentence)> answer;
  /// records the values that were decided last
  std::function<void(const std::vector<SteeredParameter::Value>&)> record;
};

/// Servers' part of steering: one object on each, with the same parameters; changes come to the first server. The
/// combined words determine which changes are taken up in an iteration, so that all servers take the same ones.
class SteeringServer {
 public:
  /// `channel`: on the first server; empty on others.
  SteeringServer(const std::vector<SteeredParameter>& parameters, int ahead, std::optional<SteeringChannel> channel);

  /// Takes a value set by an analysis. Replaces an earlier change of the same parameter that is not yet taken up.
  void set(std::size_t parameter, const SteeredParameter::Value& value);

  /// Number of words that it adds to an agreement.
  [[nodiscard]] std::size_t words() const noexcept { return 1 + parameters_.size(); }
  /// Writes this server's words for iteration `index`; `words` must be zero. `seconds`: any clock.
  void contribute(std::span<std::uint64_t> words, std::int64_t index, double seconds);
  /// Returns the notice for the clients before the iteration is released, from the combined words. Not called for
  /// iterations in which a client has closed, since it would not read the notice.
  [[nodiscard]] std::optional<Notice> take_up(std::span<const std::uint64_t> words, std::int64_t index);
  /// Confirms that the clients were told what `take_up` returned last; answers the users.
  void confirm();
  /// Refuses remaining requests, since no more iterations come.
  void close();

 private:
  struct Change {
    std::size_t parameter;
    std::uint64_t bits;
    std::string id;  ///< empty: no user waits for an answer
    bool offered = false;
  };
  [[nodiscard]] bool may_tell(std::int64_t index) const noexcept;
  void take_requests();
  void settle(std::int64_t effective);

  const std::vector<SteeredParameter>& parameters_;
  std::int64_t ahead_;
  std::optional<SteeringChannel> channel_;
  std::deque<Change> waiting_;
  std::vector<std::pair<std::string, std::string>> answers_;  ///< by id: pending answers to users
  std::vector<SteeredParameter::Value> values_;
  std::deque<std::int64_t> accepted_at_;  ///< the last iterations in which changes were taken up
  double polled_ = -1;                    ///< time of the last check for requests
};

// Values that an analysis sets, kept until it is known not to have failed.

/// Receiver of the changes that analyses made, on the first server.
struct SteeringSink {
  const std::vector<SteeredParameter>& parameters;
  std::function<void(std::size_t parameter, const SteeredParameter::Value& value)> take;
};

/// Checks each call at once, on every server, and hands the changes over with `keep`.
class SteeringCalls final : public Steering {
 public:
  explicit SteeringCalls(const SteeringSink* sink) : sink_(sink) {}
  void set(std::string_view name, std::int64_t value) override { add(name, value); }
  void set(std::string_view name, double value) override { add(name, value); }
  /// Keeps the changes, because the analysis did not fail. Call it once.
  void keep();

 private:
  void add(std::string_view name, const SteeredParameter::Value& value);
  const SteeringSink* sink_;
  std::vector<std::pair<std::size_t, SteeredParameter::Value>> calls_;
};

}  // namespace sidestream
