#include "transport/mpi/forwarder.hpp"

#include <algorithm>

#include "sidestream/kit/base/waiting.hpp"

namespace sidestream::mpi {

Forwarder::Forwarder(ServerTransport& clients, const std::vector<Contact>& contacts) : clients_(clients) {
  for (const Contact& contact : contacts) links_.emplace_back(contact, value_store_);
  sleep_exactly();
}

void Forwarder::send(std::span<const MessageLine> manifest) {
  Bytes packet;
  retry_while_out_of_memory([&] { packet = write_packet(PacketKind::manifest, reported_, 0, manifest); });
  for (Link& link : links_) link.send(packet);
}

void Forwarder::tell(MessageKind kind) {
  Message message;
  message.kind = kind;
  retry_while_out_of_memory([&] { send(writer_.write(message)); });
  writer_.sent();
}

/// Reports the iteration that this forwarder's clients published, as if one client had published it.
void Forwarder::report_iteration() {
  std::vector<MessageLine> manifest;
  Message message;
  const auto add = [&](MessageKind kind) {
    message.kind = kind;
    retry_while_out_of_memory([&] {
      const std::span<const MessageLine> lines = writer_.write(message);
      manifest.insert(manifest.end(), lines.begin(), lines.end());
    });
    writer_.sent();
  };
  retry_while_out_of_memory([&] { clients_.advance(reported_); });
  const ServerState state = clients_.state(reported_);
  for (const BlockChange& change : std::exchange(state.tables.changes, {})) {
    message.block.block = change.block;
    add(change.removed ? MessageKind::remove : MessageKind::declare);
    value_store_.forget(reported_, change.block, change.removed != 0);
  }
  const auto add_block = [&](const Arrival& arrival) {
    message.block = arrival.record;
    message.block.number = BlockRecord::no_number;  // clients number their descriptions independently
    add(MessageKind::block);
    retry_while_out_of_memory([&] { static_cast<void>(value_store_.put(reported_, arrival)); });
  };
  const Inbox& inbox = state.inbox;
  for (const Arrival& arrival : inbox.blocks) add_block(arrival);
  for (const Arrival& arrival : state.tables.persistent) {
    if (arrival.since == reported_) add_block(arrival);
  }
  for (const Signal& signal : inbox.signals) {
    retry_while_out_of_memory([&] { message.signal = signal; });
    add(MessageKind::signal);
  }
  EndRecord& end = message.end;
  end = inbox.end;
  // A client that left before its end makes the iteration refused.
  if (state.ended < clients_.traits().clients) end.refused |= Refusal::left;
  add(MessageKind::end);
  retry_while_out_of_memory([&] { value_store_.complete(reported_, end.refused != 0); });
  send(manifest);
  ++reported_;
}

bool Forwarder::report() {
  bool any = false;
  const auto is_complete = [this] {
    const ServerState state = clients_.state(reported_);
    return state.pending == 0 && state.ended > 0;
  };
  while (is_complete()) {
    report_iteration();
    any = true;
  }
  const ServerState state = clients_.state(reported_);
  if (!closed_ && state.pending == 0) {
    tell(MessageKind::close);
    for (Link& link : links_) link.close(reported_);
    closed_ = any = true;
  }
  if (!abandoned_ && state.abandoned) {
    tell(MessageKind::abandon);
    abandoned_ = any = true;
  }
  return any;
}

/// Passes a group's failure and notices on to the clients.
void Forwarder::pass_on(Link& link) {
  if (const std::optional<std::string> failure = link.take_failure()) {
    retry_while_out_of_memory([&] { clients_.post_failure(*failure); });
  }
  for (Notice& notice : link.take_notices()) retry_while_out_of_memory([&] { notices_.push_back(std::move(notice)); });
  while (!notices_.empty() && clients_.notify(notices_.front())) notices_.pop_front();
}

/// Returns an iteration's memory to the clients when all groups have what they need of it, and its outcome when all
/// groups have decided.
bool Forwarder::release_settled() {
  bool any = false;
  std::int64_t free = reported_, settled = reported_;
  for (const Link& link : links_) {
    free = std::min(free, link.freed());
    settled = std::min(settled, link.settled());
  }
  if (free > freed_) {
    static_cast<void>(value_store_.drop(free - 1));
    clients_.release(free - 1, Outcome::pending);
    freed_ = free;
    any = true;
  }
  // Notices about an iteration reach clients before its outcome.
  for (; notices_.empty() && settled_ < std::min(settled, freed_); ++settled_) {
    Outcome outcome = Outcome::delivered;
    std::uint64_t bytes = 0;
    for (Link& link : links_) {
      outcome = joined(outcome, link.take_outcome(settled_));
      bytes += link.take_bytes_sent(settled_);
    }
    retry_while_out_of_memory([&] { clients_.release(settled_, outcome); });
    if (sent_) sent_(settled_, bytes);
    any = true;
  }
  return any;
}

bool Forwarder::parted() {
  return closed_ && settled_ == reported_ &&
         std::all_of(links_.begin(), links_.end(), [](Link& link) { return link.parted(); });
}

void Forwarder::run() {
  // Pauses between polls: shared memory wakes a sleeper, but MPI has to be polled. No server requests anything while
  // nothing is in flight.
  constexpr std::chrono::microseconds shortest{10}, longest{400}, idle{10'000};
  for (Backoff backoff(shortest, longest); !parted();) {
    bool active = report();
    for (Link& link : links_) {
      active |= link.move();
      pass_on(link);
    }
    active |= release_settled();
    if (active) backoff.reset();
    active |= clients_.receive(reported_ > settled_ || active ? backoff.next() : idle);
    if (active) backoff.reset();
  }
  for (Link& link : links_) {
    while (!link.sent_all()) pause_for(std::chrono::microseconds(20));
  }
}

}  // namespace sidestream::mpi
