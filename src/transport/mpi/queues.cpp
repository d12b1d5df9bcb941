#include <algorithm>
#include <new>

#include "base/mpi/communicator.hpp"
#include "base/mpi/polite_wait.hpp"
#include "base/waiting.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "transport/mpi/queues.hpp"

namespace sidestream::mpi {

void SendQueue::send(MPI_Comm comm, int peer, int tag, Bytes bytes) {
  Entry& entry = entries_.emplace_back();
  entry.bytes = std::move(bytes);
  try {
    post_send(comm, peer, tag, entry.bytes.data(), entry.bytes.size(), entry.requests);
  } catch (const std::bad_alloc&) {
    entries_.pop_back();
    throw;
  }
}

bool SendQueue::sweep() {
  entries_.remove_if([](Entry& entry) { return test_all(entry.requests); });
  return entries_.empty();
}

ReceiveQueue::~ReceiveQueue() {
  if (mpi_is_finalized()) return;
  for (Incoming& packet : incoming_) {
    if (!packet.complete) MPI_Wait(&packet.request, MPI_STATUS_IGNORE);
  }
}

void ReceiveQueue::accept() {
  for (;;) {
    int there = 0;
    MPI_Message message;
    MPI_Status status;
    check_mpi(MPI_Improbe(MPI_ANY_SOURCE, packet_tag, comm_, &there, &message, &status), "MPI_Improbe");
    if (!there) return;
    int count = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    // A deque keeps its elements in place, which MPI needs to write into them. MPI has handed the message out, so this
    // waits until there is memory for it.
    retry_while_out_of_memory([&] { incoming_.emplace_back(); });
    Incoming& packet = incoming_.back();
    packet.from = status.MPI_SOURCE;
    retry_while_out_of_memory([&] { packet.bytes.resize(static_cast<std::size_t>(count)); });
    packet.complete = false;
    check_mpi(MPI_Imrecv(packet.bytes.data(), count, MPI_BYTE, &message, &packet.request), "MPI_Imrecv");
  }
}

std::optional<Packet> ReceiveQueue::take() {
  accept();
  for (auto it = incoming_.begin(); it != incoming_.end(); ++it) {
    if (!it->complete) {
      int done = 0;
      check_mpi(MPI_Test(&it->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      it->complete = done != 0;
    }
    const bool earlier = std::any_of(incoming_.begin(), it, [&](const Incoming& e) { return e.from == it->from; });
    if (!it->complete || earlier) continue;
    Packet packet;
    packet.from = it->from;
    const Bytes& bytes = it->bytes;
    const PacketHeader expected;
    if (bytes.size() >= sizeof expected)
      packet.header = record_of<PacketHeader>(std::span(bytes).first(sizeof expected));
    if (bytes.size() < sizeof expected || packet.header.magic != expected.magic ||
        packet.header.layout != packet_layout()) {
      fail(
          Code::system,
          "rank {} sent a message that this version of Sidestream does not know; start all ranks with the same library",
          packet.from);
    }
    // Must complete, since others wait for the packet's effect.
    retry_while_out_of_memory([&] { packet.body.assign(bytes.begin() + sizeof expected, bytes.end()); });
    // Erasing in the middle moves the owners of buffers that requests use; their memory stays in place.
    incoming_.erase(it);
    return packet;
  }
  return std::nullopt;
}

}  // namespace sidestream::mpi
