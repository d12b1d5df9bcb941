// Sidecar, the simulation's end: a socket where server processes get the node's shared memory.
//
// One client of each node owns it, and a thread that answers servers. The loop of that thread accepts connections,
// gives places to one group of servers at a time, and writes the service state.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "sidestream/kit/base/files.hpp"
#include "transport/shared_memory/control.hpp"
#include "transport/shared_memory/node.hpp"
#include "transport/shared_memory/sidecar/attach_protocol.hpp"

namespace sidestream::shared_memory {

class ListenerLoop {
 public:
  /// `answer`: what each accepted server gets, together with `descriptors`.
  ListenerLoop(int listener, int wake, ServiceState& service, const AttachAnswer& answer,
               const std::array<int, 3>& descriptors)
      : listener_(listener), wake_(wake), service_(service), answer_(answer), descriptors_(descriptors) {}
  /// Runs until `wake` becomes readable. Never throws because of what servers do.
  void run();
  /// After `run`: marks the simulation as closed. Servers see that when their connections end with this object.
  void close() { service_.set(epoch_, ServiceState::Phase::closed); }

 private:
  static constexpr int no_place = -1;
  struct Connection {
    Descriptor socket;
    int place = no_place;
    bool ready = false, leaving = false;
  };
  void accept_new();
  /// Returns false if the connection is over.
  [[nodiscard]] bool receive(Connection& connection);
  [[nodiscard]] bool receive_safely(Connection& connection) noexcept;
  [[nodiscard]] bool answer(Connection& connection, const AttachRequest& request);
  void take(Connection& connection, AttachSignal received);
  void lose(const Connection& connection);
  [[nodiscard]] int holders() const;
  [[nodiscard]] bool all_ready() const;

  int listener_, wake_;
  ServiceState& service_;
  AttachAnswer answer_;
  std::array<int, 3> descriptors_;
  std::vector<Connection> connections_;
  Id group_{};  ///< group that holds the places
  std::uint64_t epoch_ = 0;
  bool attached_ = false;
  int left_ = 0;  ///< number of servers of the attached group that have announced that they leave
};

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
