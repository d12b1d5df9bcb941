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

/// Acts as a server towards its clients, and as a client towards the servers. Values stay in shared memory, where the
/// clients put them, until servers have fetched what they need. No server waits for a client that computes.
class Forwarder {
 public:
  /// `clients`: the server's end of shared memory, which outlives this object. `contacts`: the servers that this
  /// forwarder reports to, one in each group.
  Forwarder(ServerTransport& clients, const std::vector<Contact>& contacts);
  /// Runs until all clients have closed and every iteration is settled.
  void run();
  /// Sets a callback that receives the bytes of values sent for each iteration, in order, when all of it has left.
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
  std::deque<Link> links_;  ///< one link for each group of servers
  MessageWriter writer_;
  std::deque<Notice> notices_;  ///< notices that clients had no room for yet
  std::int64_t reported_ = 0, freed_ = 0, settled_ = 0;
  bool closed_ = false, abandoned_ = false;
  std::function<void(std::int64_t, std::uint64_t)> sent_;
};

}  // namespace sidestream::mpi
