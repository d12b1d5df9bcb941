// The contract of combined placements, which carry partial results from servers that reduce to servers that combine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/data/iteration.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// One pass of one analysis in one iteration. Rounds come in the same order on every process.
struct PartialRound {
  Iteration iteration;
  std::int32_t task = 0;  ///< number in the configuration
  std::int32_t pass = 0;
  bool operator==(const PartialRound& other) const noexcept {
    return iteration.index == other.iteration.index && task == other.task && pass == other.pass;
  }
};

/// The reducing end: `local` runs on this server.
class PartialSender {
 public:
  virtual ~PartialSender() = default;
  /// Hands over this server's partial and waits until it is combined. Collective over the reducing servers. Returns the
  /// failure, the same on all of these servers. If it is empty, `feedback` is the return value of `combine`.
  [[nodiscard]] virtual std::string combine(const PartialRound& round, BytesView partial, Bytes& feedback) = 0;
  /// Announces that there are no more rounds.
  virtual void close() = 0;
  /// Sets a function that is called repeatedly while `combine` waits.
  virtual void set_meanwhile(std::function<void()> meanwhile) = 0;
};

/// A round as it arrived on a combining server.
struct ReceivedRound {
  PartialRound round;
  std::vector<Bytes> partials;  ///< from the reducing servers that report here; may be empty
};

/// The combining end. Every combining server gets every round.
class PartialReceiver {
 public:
  virtual ~PartialReceiver() = default;
  /// The next round, when it is complete here; nothing when all servers that report here have closed.
  [[nodiscard]] virtual std::optional<ReceivedRound> next() = 0;
  /// Answers the round that `next` returned last.
  virtual void answer(const std::string& failure, BytesView feedback) = 0;
};

}  // namespace sidestream
