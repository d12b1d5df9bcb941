// Sidecar, the simulation's end: a socket through which server processes find the node's shared memory, and a thread
// that answers them. One client of each node owns it.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "base/files.hpp"
#include "sidestream/extend/communicator.hpp"
#include "transport/shared_memory/node.hpp"
#include "transport/shared_memory/sidecar/attach_protocol.hpp"
#include "transport/shared_memory/sidecar/listener_loop.hpp"

namespace sidestream::shared_memory {

/// Information that the listener sends besides the shared memory.
struct ListenerOffer {
  Id session{};
  int node = 0, nodes = 1;
  Bytes declarations;  ///< for the servers; the listener does not read them
};

class Listener {
 public:
  /// Listens from now on. If another user holds the name, it uses another one, and records it in a file where servers
  /// look. Throws Error(usage) if another simulation of this user has the name on the node, or if no such file can be
  /// made, Error(system) if no socket can be made.
  Listener(const std::string& name, std::shared_ptr<Node> node, const ListenerOffer& offer);
  /// Marks the simulation as closed in the service state, then ends all connections.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

 private:
  std::shared_ptr<Node> node_;
  Segment declarations_;
  std::unique_ptr<AddressFile> address_file_;  ///< only if the name was taken
  Descriptor socket_, wake_;
  std::unique_ptr<ListenerLoop> loop_;
  std::thread thread_;
};

}  // namespace sidestream::shared_memory
