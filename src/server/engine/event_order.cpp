#include "server/engine/event_order.hpp"

#include <algorithm>

#include "data/coming.hpp"
#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

bool concerns_others(const Signal& signal) {
  return signal.head.scope != EventScope::server || signal.head.barrier == comes || signal.head.barrier == counts;
}

Bytes encoded(const std::vector<const Signal*>& signals) {
  ByteWriter out;
  for (const Signal* signal : signals) {
    out.put(signal->head);
    out.put(signal->values);
  }
  return out.take();
}

struct Known {
  Signal signal;
  bool is_mine = false;  ///< true for clients of this server
};

}  // namespace

bool EventOrder::concerns_others(const Inbox& inbox) {
  return std::any_of(inbox.signals.begin(), inbox.signals.end(),
                     [](const Signal& signal) { return sidestream::concerns_others(signal); });
}

bool EventOrder::sees(const Signal& signal, bool is_mine) const noexcept {
  if (is_mine || signal.head.scope == EventScope::all) return true;
  return signal.head.scope == EventScope::node && node_ >= 0 && signal.head.node == node_;
}

Event EventOrder::event_of(const Signal& signal) const {
  const bool of_all = signal.head.barrier == all_have_come;
  return {names_.at(static_cast<std::size_t>(signal.head.event)),
          of_all ? -1 : signal.head.client,
          signal.head.scope,
          signal.head.iteration,
          signal.head.type,
          signal.values};
}

/// Counts one more client. Returns true if it is the last of `clients` for the next time.
bool EventOrder::completes(Barrier& barrier, std::int32_t client, std::int64_t clients) {
  ++barrier.comings[client];
  if (static_cast<std::int64_t>(barrier.comings.size()) < clients) return false;
  const auto fewest = std::min_element(barrier.comings.begin(), barrier.comings.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (fewest->second <= barrier.reached) return false;
  ++barrier.reached;
  return true;
}

/// Counts a client that reaches a barrier, or raises an event that is counted. The last client raises the barrier's
/// event.
void EventOrder::arrive(const Signal& signal, bool is_mine, std::vector<Event>& reached) {
  const SignalHead& head = signal.head;
  const std::uint64_t bit = std::uint64_t{1} << head.event;
  const auto raise = [&](EventScope scope) {
    reached.push_back({names_.at(static_cast<std::size_t>(head.event)), -1, scope, head.iteration, Type::uint8, {}});
  };
  of_one_ |= bit;
  if (is_mine) one_here_ |= bit;
  const bool is_barrier = head.barrier == comes;
  if (completes((is_barrier ? barriers_ : counts_)[head.event], head.client, clients_)) {
    of_all_ |= bit;
    if (is_barrier) bits_ |= bit;
    if (is_barrier) raise(EventScope::all);
  }
  if ((by_node_ & bit) == 0) return;
  Barrier& node = of_node_[{head.event, head.node}];
  node.is_mine |= is_mine;
  if (!completes(node, head.client, record_of<std::int64_t>(signal.values))) return;
  of_nodes_ |= bit;
  if (!node.is_mine && (node_ < 0 || node_ != head.node)) return;
  node_here_ |= bit;
  raise(EventScope::node);
}

std::uint64_t EventOrder::bits(EventFrom from) const noexcept {
  switch (from) {
    case EventFrom::one:
      return bits_ | of_one_;
    case EventFrom::node:
      return of_nodes_;
    case EventFrom::all:
      return of_all_;
    default:
      return bits_;
  }
}

bool EventOrder::is_here(EventFrom from, std::size_t event) const noexcept {
  if (from != EventFrom::one && from != EventFrom::node) return true;
  return ((from == EventFrom::one ? one_here_ : node_here_) >> event) & 1;
}

void EventOrder::take(const Inbox* inbox, bool exchange, Communicator& servers) {
  std::vector<Known> known;
  std::vector<const Signal*> for_others;
  if (inbox) {
    for (const Signal& signal : inbox->signals) {
      if (sidestream::concerns_others(signal)) {
        for_others.push_back(&signal);
      } else {
        known.push_back({signal, true});
      }
    }
  }
  if (exchange) {
    const std::vector<Bytes> all = servers.all_gather(encoded(for_others));
    for (std::size_t r = 0; r < all.size(); ++r) {
      for (ByteReader in(all[r]); !in.at_end();) {
        Known& one = known.emplace_back();
        in.get(one.signal.head);
        in.get(one.signal.values);
        one.is_mine = static_cast<int>(r) == servers.rank();
      }
    }
  }
  // Ordered by client and then by the order of raising, independent of the servers that received them.
  std::sort(known.begin(), known.end(),
            [](const Known& a, const Known& b) { return a.signal.head.number < b.signal.head.number; });
  std::vector<Event> in_order;
  for (const Known& one : known) {
    const std::uint32_t barrier = one.signal.head.barrier;
    if (barrier == comes || barrier == counts) {
      arrive(one.signal, one.is_mine, in_order);
    } else if (sees(one.signal, one.is_mine)) {
      in_order.push_back(event_of(one.signal));
    }
  }
  pending_.insert(pending_.end(), std::make_move_iterator(in_order.begin()), std::make_move_iterator(in_order.end()));
}

std::string EventOrder::unreached() const {
  std::string text;
  for (const auto& [event, barrier] : barriers_) {
    std::int64_t waiting = 0;
    for (const auto& [client, comings] : barrier.comings) waiting += comings > barrier.reached;
    if (waiting == 0) continue;
    text += fmt::format("{}'{}' ({} of {} clients)", text.empty() ? "" : ", ",
                        names_.at(static_cast<std::size_t>(event)), waiting, clients_);
  }
  return text;
}

}  // namespace sidestream
