// Sidecar, the simulation's end: a socket by which server processes find the node's shared memory, and a thread that
// answers. One client of each node has it.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "sidestream/extend/communicator.hpp"
#include "transport/shared_memory/address_note.hpp"
#include "transport/shared_memory/descriptor.hpp"
#include "transport/shared_memory/door_keeper.hpp"
#include "transport/shared_memory/node.hpp"

namespace sidestream::shared_memory {

/// What the door tells beside the shared memory.
struct DoorOffer {
  Id session{};
  int node = 0, nodes = 1;
  Bytes declarations;  ///< for the servers; the door does not read them
};

class Door {
 public:
  /// Listens from now on; under another name, which is noted where servers look, if another user holds this one.
  /// Throws Error(usage) if another simulation of this user has the name on the node, or if no note can be made,
  /// Error(system) if there can be no socket.
  Door(const std::string& name, std::shared_ptr<Node> node, const DoorOffer& offer);
  /// Says in the door word that the simulation closed, then ends all connections.
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

 private:
  std::shared_ptr<Node> node_;
  Segment declarations_;
  std::unique_ptr<AddressNote> note_;  ///< if the name was taken
  Descriptor listener_, wake_;
  std::unique_ptr<DoorKeeper> keeper_;
  std::thread thread_;
};

}  // namespace sidestream::shared_memory
