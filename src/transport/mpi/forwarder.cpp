#include "transport/mpi/forwarder.hpp"

#include <algorithm>

#include "base/backoff.hpp"
#include "base/persist.hpp"

namespace sidestream::mpi {

Forwarder::Forwarder(ServerTransport& clients, std::shared_ptr<MpiCommunicator> comm, int contact)
    : clients_(clients),
      comm_(std::move(comm)),
      contact_(contact),
      receive_queue_(comm_->comm()),
      source_(comm_, value_store_) {
  sleep_exactly();
}

void Forwarder::tell(MessageKind kind) {
  Message message;
  message.kind = kind;
  persist([&] {
    send_queue_.send(comm_->comm(), contact_, packet_tag,
                     write_packet(PacketKind::manifest, reported_, 0, writer_.write(message)));
  });
  writer_.sent();
}

void Forwarder::pass_notices() {
  while (!notices_.empty() && clients_.notify(notices_.front())) notices_.pop_front();
}

/// The iteration as the clients of this forwarder have published it, in the words of one client.
void Forwarder::report_iteration() {
  std::vector<MessageLine> manifest;
  Message message;
  const auto add = [&](MessageKind kind) {
    message.kind = kind;
    persist([&] {
      const std::span<const MessageLine> lines = writer_.write(message);
      manifest.insert(manifest.end(), lines.begin(), lines.end());
    });
    writer_.sent();
  };
  persist([&] { clients_.advance(reported_); });
  for (const BlockChange& change : clients_.take_changes()) {
    message.block.block = change.block;
    add(change.removed ? MessageKind::remove : MessageKind::declare);
    value_store_.forget(reported_, change.block, change.removed != 0);
  }
  const auto add_block = [&](const Arrival& arrival) {
    message.block = arrival.record;
    message.block.number = BlockRecord::no_number;  // clients count theirs each for itself
    add(MessageKind::block);
    persist([&] { static_cast<void>(value_store_.put(reported_, arrival)); });
  };
  const Inbox& inbox = clients_.inbox(reported_);
  for (const Arrival& arrival : inbox.blocks) add_block(arrival);
  for (const Arrival& arrival : clients_.persistent()) {
    if (arrival.since == reported_) add_block(arrival);
  }
  for (const Signal& signal : inbox.signals) {
    persist([&] { message.signal = signal; });
    add(MessageKind::signal);
  }
  EndRecord& end = message.end;
  end = inbox.end;
  // A client that left before the end takes the iteration with it.
  if (clients_.ended(reported_) < clients_.clients()) end.refused |= Refusal::left;
  add(MessageKind::end);
  persist([&] { value_store_.complete(reported_, end.refused != 0); });
  persist([&] {
    send_queue_.send(comm_->comm(), contact_, packet_tag,
                     write_packet(PacketKind::manifest, reported_, 0, std::span<const MessageLine>(manifest)));
  });
  ++reported_;
}

bool Forwarder::report() {
  bool any = false;
  while (clients_.pending(reported_) == 0 && clients_.ended(reported_) > 0) {
    report_iteration();
    any = true;
  }
  if (!closed_ && clients_.pending(reported_) == 0) {
    tell(MessageKind::close);
    source_.close(reported_);
    closed_ = any = true;
  }
  if (!abandoned_ && clients_.abandoned()) {
    tell(MessageKind::abandon);
    abandoned_ = any = true;
  }
  return any;
}

bool Forwarder::take_packets() {
  bool any = false;
  while (std::optional<Packet> packet = receive_queue_.take()) {
    any = true;
    persist([&] { take(*packet); });
  }
  return any;
}

void Forwarder::take(Packet& packet) {
  if (packet.header.kind == PacketKind::verdict) {
    verdicts_.emplace_back(packet.header.index, static_cast<Outcome>(packet.header.number));
  } else if (packet.header.kind == PacketKind::fetched) {
    fetched_.push_back(packet.header.index);
  } else if (packet.header.kind == PacketKind::failure) {
    clients_.post_failure(std::string(reinterpret_cast<const char*>(packet.body.data()), packet.body.size()));
  } else if (packet.header.kind == PacketKind::notice) {
    Notice notice = notice_reader_.read_notice(packet.records<MessageLine>());
    persist([&] { notices_.emplace_back(); });
    notices_.back() = std::move(notice);
  } else {
    source_.request(packet);
  }
}

bool Forwarder::release_settled() {
  bool any = false;
  while (!fetched_.empty() && !source_.busy_with(fetched_.front())) {
    static_cast<void>(value_store_.drop(fetched_.front()));
    clients_.free_values(fetched_.front());
    source_.freed(fetched_.front() + 1);
    fetched_.erase(fetched_.begin());
    any = true;
  }
  // What was told of an iteration is there before its outcome.
  while (notices_.empty() && !verdicts_.empty() && !source_.busy_with(verdicts_.front().first)) {
    const auto [index, outcome] = verdicts_.front();
    verdicts_.erase(verdicts_.begin());
    static_cast<void>(value_store_.drop(index));
    persist([&, index = index] { bytes_sent_[index]; });
    bytes_sent_[index] = source_.take_bytes_sent(index);
    persist([&, index = index, outcome = outcome] { clients_.release(index, outcome); });
    settled_ = index + 1;
    source_.freed(settled_);
    any = true;
  }
  return any;
}

void Forwarder::run() {
  // Shared memory wakes a sleeper; MPI must be looked at. While nothing is in flight no server asks for anything.
  constexpr std::chrono::microseconds shortest{10}, longest{400}, idle{10'000};
  for (Backoff backoff(shortest, longest); !(closed_ && settled_ == reported_ && source_.parted());) {
    bool active = report();
    active |= take_packets();
    active |= source_.move();
    active |= !send_queue_.sweep();
    pass_notices();
    active |= release_settled();
    if (active) backoff.reset();
    active |= clients_.receive(reported_ > settled_ || active ? backoff.next() : idle);
    if (active) backoff.reset();
  }
  while (!send_queue_.sweep()) pause_for(std::chrono::microseconds(20));
}

}  // namespace sidestream::mpi
