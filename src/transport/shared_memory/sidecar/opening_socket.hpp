// How servers that wait for a simulation learn that it has ended before it let them in.
//
// Both ends listen, and each connects to the other if it is there: whoever comes second finds the first. Nothing is
// ever said. A connection that ends, also one that ended before it was accepted, says that the simulation has begun
// to listen or has gone; the kernel ends it with the process.
#pragma once

#include <string>

#include "base/descriptor.hpp"

namespace sidestream::shared_memory {

/// The simulation's end, from its opening to its start. One for each node.
class OpeningSocket {
 public:
  /// `listener`: the name that the listener will have. What cannot be had is done without: then servers wait as long as
  /// they would for a simulation that never comes.
  explicit OpeningSocket(const std::string& listener);

 private:
  Descriptor listener_, to_waiting_;
};

/// A server's end.
class OpeningWatch {
 public:
  explicit OpeningWatch(const std::string& listener);
  /// Whether a simulation was about to start and has started or ended since the last call. The listener is there before
  /// this connection ends: who then finds no listener knows that there will be none.
  [[nodiscard]] bool has_ended();

 private:
  std::string name_;
  Descriptor listener_, socket_;
};

}  // namespace sidestream::shared_memory
