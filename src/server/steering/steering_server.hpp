// Where servers take changes of steered parameters up, and what they tell the clients of them. docs/steering.md has the
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

/// What somebody outside asks for, in the words that were typed.
struct SteeringRequest {
  std::string id;  ///< to answer it
  std::string name, value;
};

/// The way to people; used on the first server alone. None of it throws but for want of memory.
struct SteeringChannel {
  std::function<std::vector<SteeringRequest>()> requests;  ///< new ones; each once
  std::function<void(const std::string& id, const std::string& sentence)> answer;
  std::function<void(const std::vector<SteeredParameter::Value>&)> record;  ///< the values that were decided on last
};

/// One for each server, with the same parameters; changes come to the first one. Which of them are taken up in an
/// iteration follows from the words that the servers combine, so that it is the same on all of them.
class SteeringServer {
 public:
  /// `channel`: of the first server; empty on others.
  SteeringServer(const std::vector<SteeredParameter>& parameters, int ahead, std::optional<SteeringChannel> channel);

  /// An analysis has set it. Another change of the same that nobody has taken up yet is replaced.
  void set(std::size_t parameter, const SteeredParameter::Value& value);

  /// How many words it adds to an agreement.
  [[nodiscard]] std::size_t words() const noexcept { return 1 + parameters_.size(); }
  /// What this server adds for iteration `index`; `words` are zero before. `seconds`: any clock.
  void contribute(std::span<std::uint64_t> words, std::int64_t index, double seconds);
  /// What the clients must be told, before the iteration is released, after the servers have combined their words for
  /// it. Not called for iterations of which some clients have closed: those would not read it.
  [[nodiscard]] std::optional<Notice> take_up(std::span<const std::uint64_t> words, std::int64_t index);
  /// The clients have been told what `take_up` returned last: so are people.
  void confirm();
  /// No more iterations come: refuses what is left.
  void close();

 private:
  struct Change {
    std::size_t parameter;
    std::uint64_t bits;
    std::string id;  ///< empty: nobody waits for an answer
    bool offered = false;
  };
  [[nodiscard]] bool may_tell(std::int64_t index) const noexcept;
  void take_requests();
  void settle(std::int64_t effective);

  const std::vector<SteeredParameter>& parameters_;
  std::int64_t ahead_;
  std::optional<SteeringChannel> channel_;
  std::deque<Change> waiting_;
  std::vector<std::pair<std::string, std::string>> answers_;  ///< by id: what people will be told
  std::vector<SteeredParameter::Value> values_;
  std::deque<std::int64_t> told_;  ///< the last iterations in which something was taken up
  double looked_ = -1;             ///< for requests
};

// What an analysis sets, until it is known that it has not failed.

/// Where changes go that an analysis has made: of the first server.
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
  /// The analysis has not failed. Once.
  void keep();

 private:
  void add(std::string_view name, const SteeredParameter::Value& value);
  const SteeringSink* sink_;
  std::vector<std::pair<std::size_t, SteeredParameter::Value>> calls_;
};

}  // namespace sidestream
