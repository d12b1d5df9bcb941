// Placement `nodes` with forwarders: a rank of each node that holds its clients' values for the servers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "sidestream/extend/transport.hpp"
#include "transport/mpi/link.hpp"
#include "transport/mpi/value_store.hpp"

namespace sidestream::mpi {

/// To its clients it is a server, to the servers a client. Values stay where the clients put them, in shared memory,
/// until servers have fetched what they need; nothing waits for a client that computes.
class Forwarder {
 public:
  /// `clients`: the server's end of shared memory, at hand; outlives this. `contacts`: the servers that this one
  /// reports to, one of each group.
  Forwarder(ServerTransport& clients, const std::vector<Contact>& contacts);
  /// Until all clients have closed and everything is settled.
  void run();
  /// Is told the bytes of values sent of each iteration, in their order, when nothing of it is left here.
  void set_sent(std::function<void(std::int64_t, std::uint64_t)> sent) { sent_ = std::move(sent); }

 private:
  bool report();
  void report_iteration();
  void tell(MessageKind kind);
  void send(std::span<const MessageLine> manifest);
  void pass_on(Link& link);
  bool release_settled();
  [[nodiscard]] bool parted();

  ServerTransport& clients_;
  ValueStore value_store_;
  std::deque<Link> links_;  ///< one for each group of servers
  MessageWriter writer_;
  std::deque<Notice> notices_;  ///< that clients had no room for yet
  std::int64_t reported_ = 0, freed_ = 0, settled_ = 0;
  bool closed_ = false, abandoned_ = false;
  std::function<void(std::int64_t, std::uint64_t)> sent_;
};

}  // namespace sidestream::mpi
