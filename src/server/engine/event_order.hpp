// Total order of the program's events, the same on all servers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sidestream/data/event.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Orders events; docs/events.md has the protocol. Every server has one and feeds it the same iterations. Signals that
/// concern all servers are exchanged in iterations that have any, and their state is the same on all.
class EventOrder {
 public:
  /// `names`: by number; must outlive this. `node`: this server's node; -1: no client is on a server's node. `clients`:
  /// total number in the simulation.
  EventOrder(const std::vector<std::string>& names, int node, std::int64_t clients)
      : names_(names), node_(node), clients_(clients) {}

  /// True if signals in the inbox concern other servers.
  [[nodiscard]] static bool concerns_others(const Inbox& inbox);
  /// Takes the signals of one iteration that arrived here (null: none). `exchange`: true if some server has signals
  /// that concern others; the call is then collective.
  void take(const Inbox* inbox, bool exchange, Communicator& servers);
  /// Adds signalled names without values, as bits; the same on every server.
  void take_bits(std::uint64_t signalled) noexcept { bits_ |= signalled; }

  /// Events that take effect in the next iteration that is not refused, in order, as this server sees them.
  [[nodiscard]] const std::vector<Event>& pending() const noexcept { return pending_; }
  /// Bits of all pending names, including those of other servers' events.
  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
  /// Clears the events after they have taken effect.
  void clear() noexcept {
    pending_.clear();
    bits_ = 0;
  }
  /// Text about barriers that some clients have reached and others have not; empty if there are none.
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
    std::map<std::int32_t, std::int64_t> comings;  ///< arrivals by client
    std::int64_t reached = 0;                      ///< number of times that all have arrived
  };
  std::map<std::int32_t, Barrier> barriers_;  ///< by number of the name
};

}  // namespace sidestream
