#include "transport/mpi/link.hpp"

#include <utility>

#include "sidestream/kit/base/waiting.hpp"

namespace sidestream::mpi {

Link::Link(Contact contact, ValueStore& value_store)
    : contact_(std::move(contact)), receive_queue_(contact_.comm->comm()), source_(contact_.comm, value_store) {}

Link::~Link() {
  if (mpi_is_finalized()) return;
  for (auto& [index, requests] : pushing_) {
    for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

void Link::send(const Bytes& packet) {
  retry_while_out_of_memory([&] { send_queue_.send(contact_.comm->comm(), contact_.rank, packet_tag, packet); });
}

void Link::push(std::int64_t index, int tag, const std::byte* data, std::uint64_t bytes) {
  retry_while_out_of_memory([&] {
    pushed_bytes_[index];
    post_send(contact_.comm->comm(), contact_.rank, tag, data, bytes, pushing_[index]);
  });
  pushed_bytes_[index] += bytes;
}

void Link::take(Packet& packet) {
  switch (packet.header.kind) {
    case PacketKind::verdict:
      releases_.push_back({packet.header.index, true, static_cast<Outcome>(packet.header.number)});
      break;
    case PacketKind::fetched:
      releases_.push_back({packet.header.index, false, Outcome::pending});
      break;
    case PacketKind::failure:
      failure_ = std::string(reinterpret_cast<const char*>(packet.body.data()), packet.body.size());
      break;
    case PacketKind::notice: {
      const std::vector<MessageLine> lines = packet.records<MessageLine>();
      notices_.reserve(notices_.size() + 1);  // nothing may fail between reading and keeping
      notices_.push_back(notice_reader_.read_notice(lines));
      break;
    }
    default:
      source_.request(packet);
  }
}

/// Advances `freed_`. Packets of the contact arrive in order, so a packet about one iteration holds for all earlier
/// ones.
void Link::advance_freed() {
  for (; !releases_.empty(); releases_.pop_front()) {
    const Release& next = releases_.front();
    if (next.index >= freed_) {
      if (source_.busy_up_to(next.index)) return;
      while (!pushing_.empty() && pushing_.begin()->first <= next.index) {
        if (!test_all(pushing_.begin()->second)) return;
        pushing_.erase(pushing_.begin());
      }
      freed_ = next.index + 1;
      source_.freed(freed_);
    }
    if (!next.settles) continue;
    retry_while_out_of_memory([&] { outcomes_[next.index] = next.outcome; });
    settled_ = next.index + 1;
  }
}

bool Link::move() {
  bool active = false;
  while (std::optional<Packet> packet = receive_queue_.take()) {
    retry_while_out_of_memory([&] { take(*packet); });
    active = true;
  }
  active |= source_.move();
  active |= !send_queue_.sweep();
  advance_freed();
  return active;
}

Outcome Link::take_outcome(std::int64_t index) {
  const auto found = outcomes_.find(index);
  if (found == outcomes_.end()) return Outcome::pending;
  const Outcome outcome = found->second;
  outcomes_.erase(found);
  return outcome;
}

std::uint64_t Link::take_bytes_sent(std::int64_t index) {
  std::uint64_t bytes = source_.take_bytes_sent(index);
  if (const auto found = pushed_bytes_.find(index); found != pushed_bytes_.end()) {
    bytes += found->second;
    pushed_bytes_.erase(found);
  }
  return bytes;
}

}  // namespace sidestream::mpi
