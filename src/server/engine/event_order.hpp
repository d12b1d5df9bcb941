// Total order of the program's events, the same on all servers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "sidestream/data/event.hpp"
#include "sidestream/extend/communicator.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Orders events; docs/events.md has the protocol. Every server has its own object and feeds it the same iterations.
/// Servers exchange signals that concern all of them in iterations that have any, and the state of these is the same on
/// all.
class EventOrder {
 public:
  /// `names`: names of events by number; must outlive this object. `node`: this server's node; -1: no client is on a
  /// server's node. `clients`: total number in the simulation. `by_node`: bits of the events that tasks with `from:
  /// node` wait for.
  EventOrder(const std::vector<std::string>& names, int node, std::int64_t clients, std::uint64_t by_node = 0)
      : names_(names), node_(node), clients_(clients), by_node_(by_node) {}

  /// True if signals in the inbox concern other servers.
  [[nodiscard]] static bool concerns_others(const Inbox& inbox);
  /// Takes the signals of one iteration that arrived here (null: none). `exchange`: true if some server has signals
  /// that concern others; the call is then collective.
  void take(const Inbox* inbox, bool exchange, Communicator& servers);
  /// Adds signalled names without values, as bits; the same on every server.
  void take_bits(std::uint64_t signalled) noexcept { bits_ |= signalled; }

  /// Events that take effect in the next iteration that is not refused, in order, as this server sees them.
  [[nodiscard]] const std::vector<Event>& pending() const noexcept { return pending_; }
  /// Bits of all pending names, also of other servers' events.
  [[nodiscard]] std::uint64_t bits() const noexcept { return bits_; }
  /// Bits of the names that enough clients have raised, the same on all servers.
  [[nodiscard]] std::uint64_t bits(EventFrom from) const noexcept;
  /// True if the event was raised by this server's clients, or by clients of its node.
  [[nodiscard]] bool is_here(EventFrom from, std::size_t event) const noexcept;
  /// Clears the events after they have taken effect.
  void clear() noexcept {
    pending_.clear();
    bits_ = of_one_ = of_nodes_ = of_all_ = one_here_ = node_here_ = 0;
  }
  /// Text about barriers that some clients have reached and others have not; empty if there are none.
  [[nodiscard]] std::string unreached() const;

 private:
  struct Barrier {
    std::map<std::int32_t, std::int64_t> comings{};  ///< arrivals by client
    std::int64_t reached = 0;                        ///< number of times that all have arrived
    bool is_mine = false;                            ///< true if some of these are clients of this server
  };
  [[nodiscard]] static bool completes(Barrier& barrier, std::int32_t client, std::int64_t clients);
  void arrive(const Signal& signal, bool is_mine, std::vector<Event>& reached);
  [[nodiscard]] bool sees(const Signal& signal, bool is_mine) const noexcept;
  [[nodiscard]] Event event_of(const Signal& signal) const;

  const std::vector<std::string>& names_;
  int node_;
  std::int64_t clients_;
  std::uint64_t by_node_;
  std::vector<Event> pending_;
  std::uint64_t bits_ = 0;
  std::uint64_t of_one_ = 0, of_nodes_ = 0,
                of_all_ = 0;                           ///< raised by a client; by all clients of a node; by all clients
  std::uint64_t one_here_ = 0, node_here_ = 0;         ///< events of `of_one_` and `of_nodes_` that concern this server
  std::map<std::int32_t, Barrier> barriers_, counts_;  ///< barriers of all clients, by number of the name
  std::map<std::pair<std::int32_t, std::int32_t>, Barrier> of_node_;  ///< by number of the name and node
};

}  // namespace sidestream
