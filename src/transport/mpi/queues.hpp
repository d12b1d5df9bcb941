// Packets on their way out.
#pragma once

#include <mpi.h>
#include <deque>
#include <list>
#include <optional>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/wire.hpp"

namespace sidestream::mpi {

/// Messages whose memory is ours until they have left.
class SendQueue {
 public:
  void send(MPI_Comm comm, int peer, int tag, Bytes bytes);
  /// Drops what has left. True if nothing is left.
  bool sweep();

 private:
  struct Entry {
    Bytes bytes;
    std::vector<MPI_Request> requests;
  };
  std::list<Entry> entries_;
};

// Packets on their way in.

/// Packets that arrive. Never blocks: a long packet whose sender computes comes in while others are read.
class ReceiveQueue {
 public:
  explicit ReceiveQueue(MPI_Comm comm) : comm_(comm) {}
  /// Waits until what is half received is there: the memory belongs to MPI until then.
  ~ReceiveQueue();
  ReceiveQueue(const ReceiveQueue&) = delete;
  ReceiveQueue& operator=(const ReceiveQueue&) = delete;
  /// The next packet that is complete; those of one sender come in the order it sent them. Throws Error(system) if it
  /// is no packet of this version.
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
