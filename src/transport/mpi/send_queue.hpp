// Packets on their way out.
#pragma once

#include <list>
#include <vector>

#include "sidestream/extend/communicator.hpp"
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

}  // namespace sidestream::mpi
