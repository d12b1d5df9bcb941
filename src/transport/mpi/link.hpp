// Placement `nodes`: the connection of a client or forwarder, which holds values, to one group of servers.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/source.hpp"
#include "transport/mpi/value_store.hpp"

namespace sidestream::mpi {

/// A group's contact: the server that this process reports to. `comm` contains all senders and servers of this group
/// only.
struct Contact {
  std::shared_ptr<MpiCommunicator> comm;
  int rank = 0;
};

/// Connects a holder of values to one group of servers. Groups are independent: each has its own pace, and values are
/// free when the last group has what it needs. Used by one thread: the one that calls MPI in this process.
class Link {
 public:
  Link(Contact contact, ValueStore& value_store);
  /// Waits until MPI no longer reads this object's memory.
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Sends a packet to the contact.
  void send(const Bytes& packet);
  /// Sends values of iteration `index` to the contact; they must stay in place until the iteration is `freed`.
  void push(std::int64_t index, int tag, const std::byte* data, std::uint64_t bytes);
  /// Receives packets and answers all requests that it can. True if something was done or is on its way.
  bool move();
  /// Iterations below this number are free: the group has fetched the values it needs, and MPI no longer reads them.
  [[nodiscard]] std::int64_t freed() const noexcept { return freed_; }
  /// Iterations below this number have an outcome.
  [[nodiscard]] std::int64_t settled() const noexcept { return settled_; }
  /// Returns the outcome of a settled iteration and forgets it.
  [[nodiscard]] Outcome take_outcome(std::int64_t index);
  /// Returns the bytes of values sent for iteration `index` and forgets the number.
  [[nodiscard]] std::uint64_t take_bytes_sent(std::int64_t index);
  /// Notices from the contact since the last call, in the order sent.
  [[nodiscard]] std::vector<Notice> take_notices() { return std::exchange(notices_, {}); }
  [[nodiscard]] bool has_notices() const noexcept { return !notices_.empty(); }
  /// The newest failure message since the last call.
  [[nodiscard]] std::optional<std::string> take_failure() { return std::exchange(failure_, std::nullopt); }
  /// Announces that nothing is published from iteration `index` on.
  void close(std::int64_t index) noexcept { source_.close(index); }
  /// After `close`, when all is settled: true if servers know that nothing more comes from here.
  [[nodiscard]] bool parted() { return source_.parted(); }
  [[nodiscard]] bool sent_all() { return send_queue_.sweep(); }

 private:
  struct Release {
    std::int64_t index;
    bool settles;  ///< true: has an outcome; false: its values are fetched
    Outcome outcome;
  };
  void take(Packet& packet);
  void advance_freed();

  Contact contact_;
  ReceiveQueue receive_queue_;
  SendQueue send_queue_;
  Source source_;
  MessageReader notice_reader_;
  std::deque<Release> releases_;  ///< iterations whose values MPI may still be reading
  std::int64_t freed_ = 0, settled_ = 0;
  std::map<std::int64_t, Outcome> outcomes_;
  std::vector<Notice> notices_;
  std::optional<std::string> failure_;
  std::map<std::int64_t, std::vector<MPI_Request>> pushing_;
  std::map<std::int64_t, std::uint64_t> pushed_bytes_;
};

}  // namespace sidestream::mpi
