#include "transport/mpi/send_queue.hpp"

#include <new>

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

}  // namespace sidestream::mpi
