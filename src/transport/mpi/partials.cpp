#include "transport/mpi/partials.hpp"

#include <algorithm>
#include <cstring>

#include "base/mpi/polite_wait.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream::mpi {

namespace {

/// Polls until `is_done` returns true.
template <class IsDone>
void poll_until(IsDone&& is_done) {
  Backoff backoff(std::chrono::microseconds(2), std::chrono::microseconds(100), 50);
  while (!is_done()) backoff.pause();
}

Bytes packet_of(const PartialHeader& partial) {
  return write_packet(PacketKind::partial, partial.iteration.index, 0, std::span<const PartialHeader>(&partial, 1));
}

}  // namespace

Sender::Sender(std::shared_ptr<MpiCommunicator> comm, int server, std::vector<int> others)
    : comm_(std::move(comm)), server_(server), others_(std::move(others)), receive_queue_(comm_->comm()) {
  sleep_exactly();
}

std::string Sender::combine(const PartialRound& round, BytesView partial, Bytes& feedback) {
  PartialHeader packet{round.iteration, round.task, round.pass, partial.size(), 0, 0};
  // Must complete: all servers wait for the whole partial, and other reducing ones for the answer.
  retry_while_out_of_memory([&] { send_queue_.send(comm_->comm(), server_, packet_tag, packet_of(packet)); });
  std::vector<MPI_Request> sending;
  if (!partial.empty()) {
    retry_while_out_of_memory(
        [&] { post_send(comm_->comm(), server_, value_tag, partial.data(), partial.size(), sending); });
  }
  packet.none = 1;
  packet.bytes = 0;
  for (const int other : others_) {
    retry_while_out_of_memory([&] { send_queue_.send(comm_->comm(), other, packet_tag, packet_of(packet)); });
  }
  std::optional<Packet> answer;
  poll_until([&] {
    if (!answer) answer = receive_queue_.take();
    send_queue_.sweep();
    if (meanwhile_) meanwhile_();
    return test_all(sending) && answer;
  });
  // `number` is the length of the failure message; the rest is feedback.
  const auto length = static_cast<std::size_t>(answer->header.number);
  if (answer->header.kind != PacketKind::combined || length > answer->body.size()) {
    fail(Code::system, "rank {} answered a partial result with something else", answer->from);
  }
  retry_while_out_of_memory(
      [&] { feedback.assign(answer->body.begin() + static_cast<std::ptrdiff_t>(length), answer->body.end()); });
  return std::string(reinterpret_cast<const char*>(answer->body.data()), length);
}

void Sender::close() {
  const auto tell = [&](int rank) {
    retry_while_out_of_memory([&] {
      send_queue_.send(comm_->comm(), rank, packet_tag, write_packet(PacketKind::last_partial, 0, 0, BytesView{}));
    });
  };
  tell(server_);
  for (const int other : others_) tell(other);
  poll_until([&] { return send_queue_.sweep(); });
}

Receiver::Receiver(std::shared_ptr<MpiCommunicator> comm, const std::vector<int>& reporters)
    : comm_(std::move(comm)), receive_queue_(comm_->comm()) {
  sleep_exactly();
  for (const int rank : reporters) coming_[rank];
}

Receiver::~Receiver() {
  if (mpi_is_finalized()) return;
  for (auto& [rank, queue] : coming_) {
    for (Coming& one : queue) {
      for (MPI_Request& request : one.requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
}

void Receiver::poll() {
  while (const std::optional<Packet> packet = receive_queue_.take()) {
    retry_while_out_of_memory([&] { coming_.at(packet->from).emplace_back(); });
    Coming& one = coming_.at(packet->from).back();
    if (packet->header.kind == PacketKind::last_partial) {
      one.last = true;
      continue;
    }
    retry_while_out_of_memory([&] { one.packet = packet->records<PartialHeader>().at(0); });
    retry_while_out_of_memory([&] { one.bytes.resize(one.packet.bytes); });
    if (one.bytes.empty()) continue;
    retry_while_out_of_memory([&] {
      post_receive(comm_->comm(), packet->from, value_tag, one.bytes.data(), one.bytes.size(), one.requests);
    });
  }
  send_queue_.sweep();
}

bool Receiver::complete() {
  return std::all_of(coming_.begin(), coming_.end(),
                     [](auto& entry) { return !entry.second.empty() && test_all(entry.second.front().requests); });
}

std::optional<ReceivedRound> Receiver::next() {
  poll_until([&] {
    poll();
    return complete();
  });
  ReceivedRound received;
  to_answer_.clear();
  const Coming& first = coming_.begin()->second.front();
  if (first.last) return std::nullopt;
  received.round = {first.packet.iteration, first.packet.task, first.packet.pass};
  for (auto& [rank, queue] : coming_) {
    Coming& one = queue.front();
    const PartialRound round{one.packet.iteration, one.packet.task, one.packet.pass};
    if (one.last || !(round == received.round)) {
      fail(Code::internal, "rank {} and others are in different rounds of partial results", rank);
    }
    if (!one.packet.none) {
      retry_while_out_of_memory([&] { received.partials.emplace_back(); });
      received.partials.back() = std::move(one.bytes);
      retry_while_out_of_memory([&, rank = rank] { to_answer_.push_back(rank); });
    }
    queue.pop_front();
  }
  return received;
}

void Receiver::answer(const std::string& failure, BytesView feedback) {
  Bytes body;
  retry_while_out_of_memory([&] { body.resize(failure.size() + feedback.size()); });
  if (!failure.empty()) std::memcpy(body.data(), failure.data(), failure.size());
  if (!feedback.empty()) std::memcpy(body.data() + failure.size(), feedback.data(), feedback.size());
  for (const int rank : to_answer_) {
    retry_while_out_of_memory([&] {
      send_queue_.send(comm_->comm(), rank, packet_tag,
                       write_packet(PacketKind::combined, 0, static_cast<std::int64_t>(failure.size()), body));
    });
  }
  send_queue_.sweep();
}

}  // namespace sidestream::mpi
