// How servers that wait for a simulation learn that it has ended before it let them in.
//
// Both ends listen, and each connects to the other if it is there: whoever comes second finds the first. Nothing is
// ever said. A connection that ends, also one that ended before it was accepted, says that the simulation has opened
// its door or has gone; the kernel ends it with the process.
#pragma once

#include <string>

#include "transport/shared_memory/descriptor.hpp"

namespace sidestream::shared_memory {

/// The simulation's end, from its opening to its start. One for each node.
class Lifeline {
 public:
  /// `door`: the name that the door will have. What cannot be had is done without: then servers wait as long as they
  /// would for a simulation that never comes.
  explicit Lifeline(const std::string& door);

 private:
  Descriptor listener_, to_waiting_;
};

/// A server's end.
class LifelineWatch {
 public:
  explicit LifelineWatch(const std::string& door);
  /// Whether a simulation was about to start and has started or ended since the last call. The door is opened before
  /// the lifeline ends: who then finds no door knows that there will be none.
  [[nodiscard]] bool has_ended();

 private:
  std::string name_;
  Descriptor listener_, socket_;
};

}  // namespace sidestream::shared_memory
