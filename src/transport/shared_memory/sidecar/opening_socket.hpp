// Lets servers that wait for a simulation learn that it ended before it accepted them.
//
// Both ends listen, and each connects to the other if it exists, so whichever comes second finds the first. Nothing is
// ever sent. A connection that ends, even before it was accepted, means that the simulation has begun to listen or has
// ended; the kernel closes it with the process.
#pragma once

#include <string>

#include "base/files.hpp"

namespace sidestream::shared_memory {

/// The simulation's end, from its opening to its start; one for each node.
class OpeningSocket {
 public:
  /// `listener`: the name that the listener will have. Failures are ignored: servers then wait as long as for a
  /// simulation that never comes.
  explicit OpeningSocket(const std::string& listener);

 private:
  Descriptor listener_, to_waiting_;
};

/// A server's end.
class OpeningWatch {
 public:
  explicit OpeningWatch(const std::string& listener);
  /// True if a simulation was about to start and has started or ended since the last call. The listener exists before
  /// this connection ends, so a server that then finds no listener knows that there will be none.
  [[nodiscard]] bool has_ended();

 private:
  std::string name_;
  Descriptor listener_, socket_;
};

}  // namespace sidestream::shared_memory
