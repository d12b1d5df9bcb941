// Packets on their way in.
#pragma once

#include <mpi.h>

#include <deque>
#include <optional>

#include "transport/mpi/packet.hpp"

namespace sidestream::mpi {

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
