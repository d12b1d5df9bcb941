// Queues of outgoing and incoming packets.
#pragma once

#include <mpi.h>
#include <deque>
#include <list>
#include <optional>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "transport/mpi/packet.hpp"

namespace sidestream::mpi {

/// Outgoing messages; owns their memory until MPI has sent them.
class SendQueue {
 public:
  void send(MPI_Comm comm, int peer, int tag, Bytes bytes);
  /// Frees messages that were sent. True if none is left.
  bool sweep();

 private:
  struct Entry {
    Bytes bytes;
    std::vector<MPI_Request> requests;
  };
  std::list<Entry> entries_;
};

/// Incoming packets. Never blocks: a long packet whose sender computes arrives while others are read.
class ReceiveQueue {
 public:
  explicit ReceiveQueue(MPI_Comm comm) : comm_(comm) {}
  /// Waits for packets that are partly received, because MPI writes to their memory until then.
  ~ReceiveQueue();
  ReceiveQueue(const ReceiveQueue&) = delete;
  ReceiveQueue& operator=(const ReceiveQueue&) = delete;
  /// Returns the next complete packet; packets of one sender come in the order it sent them. Throws Error(system) if it
  /// is not a packet of this version.
  [[nodiscard]] std::optional<Packet> take();

 private:
  struct Incoming {
    int from;
    Bytes bytes;
    MPI_Request request;
    bool complete;
  };
  void accept();
  MPI_Comm comm_;
  std::deque<Incoming> incoming_;
};

}  // namespace sidestream::mpi
