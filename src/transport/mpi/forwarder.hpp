// Placement `nodes` with forwarders: a rank of each node that holds its clients' values for the servers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/communicator.hpp"
#include "sidestream/extend/transport.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/receive_queue.hpp"
#include "transport/mpi/send_queue.hpp"
#include "transport/mpi/source.hpp"
#include "transport/mpi/value_store.hpp"

namespace sidestream::mpi {

/// To its clients it is a server, to the servers a client. Values stay where the clients put them, in shared memory,
/// until servers have fetched what they need; nothing waits for a client that computes.
class Forwarder {
 public:
  /// `clients`: the server's end of shared memory, at hand; outlives this. `contact`: the server this one reports to.
  Forwarder(ServerTransport& clients, std::shared_ptr<MpiCommunicator> comm, int contact);
  /// Until all clients have closed and everything is settled.
  void run();
  /// Bytes of values sent, by iteration.
  [[nodiscard]] const std::map<std::int64_t, std::uint64_t>& bytes_sent() const noexcept { return bytes_sent_; }

 private:
  bool report();
  void report_iteration();
  void tell(MessageKind kind);
  void pass_notices();
  bool take_packets();
  void take(Packet& packet);
  bool release_settled();

  ServerTransport& clients_;
  std::shared_ptr<MpiCommunicator> comm_;
  int contact_;
  ValueStore value_store_;
  ReceiveQueue receive_queue_;
  Source source_;
  SendQueue send_queue_;
  MessageWriter writer_;
  MessageReader notice_reader_;
  std::deque<Notice> notices_;  ///< that clients had no room for yet
  std::int64_t reported_ = 0, settled_ = 0;
  bool closed_ = false, abandoned_ = false;
  std::vector<std::int64_t> fetched_;
  std::vector<std::pair<std::int64_t, Outcome>> verdicts_;
  std::map<std::int64_t, std::uint64_t> bytes_sent_;
};

}  // namespace sidestream::mpi
