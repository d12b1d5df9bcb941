// The one order in which all servers have the events of the program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sidestream/data/event.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// docs/events.md has the protocol. Every server has one and feeds it the same iterations; what concerns all servers is
/// exchanged between them, in iterations in which there is any, and what is kept of it is the same on all.
class EventOrder {
 public:
  /// `names` by number, outlives this. `node`: this server's; -1: clients are on none of the servers' nodes. `clients`:
  /// of the simulation, in all.
  EventOrder(const std::vector<std::string>& names, int node, std::int64_t clients)
      : names_(names), node_(node), clients_(clients) {}

  /// Whether others must hear of what is in the inbox.
  [[nodiscard]] static bool concerns_others(const Inbox& inbox);
  /// Takes in the signals of one iteration that have come here (null: none have). `exchange`: some server has signals
  /// that concern others; then this is collective.
  void take(const Inbox* inbox, bool exchange, Communicator& servers);
  /// Names without values that were signalled, by bit; the same on every server.
  void take_bits(std::uint64_t signalled) noexcept { bits_ |= signalled; }

  /// What takes effect in the next iteration that is not refused: in order, as this server sees it.
  [[nodiscard]] const std::vector<Event>& pending() const noexcept { return pending_; }
  /// All names among it, those of other servers' events too.
  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
  /// It has taken effect.
  void clear() noexcept {
    pending_.clear();
    bits_ = 0;
  }
  /// Barriers that some clients have come to and others have not, for people; empty if there are none.
  [[nodiscard]] std::string unreached() const;

 private:
  void arrive(const SignalHead& head, std::vector<Event>& reached);
  [[nodiscard]] bool sees(const Signal& signal, bool is_mine) const noexcept;
  [[nodiscard]] Event event_of(const Signal& signal) const;

  const std::vector<std::string>& names_;
  int node_;
  std::int64_t clients_;
  std::vector<Event> pending_;
  std::uint64_t bits_ = 0;
  struct Barrier {
    std::map<std::int32_t, std::int64_t> comings;  ///< by client
    std::int64_t reached = 0;                      ///< how often all had come
  };
  std::map<std::int32_t, Barrier> barriers_;  ///< by number of the name
};

}  // namespace sidestream
