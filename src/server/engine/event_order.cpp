#include "server/engine/event_order.hpp"

#include <algorithm>

#include "sidestream/kit/base/records.hpp"

namespace sidestream {

namespace {

/// Values of SignalHead::barrier.
enum Coming : std::uint32_t { no_barrier = 0, comes = 1, all_have_come = 2 };

bool concerns_others(const Signal& signal) {
  return signal.head.scope != EventScope::server || signal.head.barrier == comes;
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

/// Counts one more client at a barrier; the last one raises the event.
void EventOrder::arrive(const SignalHead& head, std::vector<Event>& reached) {
  Barrier& barrier = barriers_[head.event];
  ++barrier.comings[head.client];
  if (static_cast<std::int64_t>(barrier.comings.size()) < clients_) return;
  const auto fewest = std::min_element(barrier.comings.begin(), barrier.comings.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (fewest->second <= barrier.reached) return;
  ++barrier.reached;
  reached.push_back(
      {names_.at(static_cast<std::size_t>(head.event)), -1, EventScope::all, head.iteration, Type::uint8, {}});
  bits_ |= std::uint64_t{1} << head.event;
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
    if (one.signal.head.barrier == comes) {
      arrive(one.signal.head, in_order);
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
