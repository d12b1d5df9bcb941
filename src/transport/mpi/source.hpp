// Holder's end of fetching: answers the requests of servers for values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "sidestream/kit/base/region_pool.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/value_store.hpp"

namespace sidestream::mpi {

/// Pieces with fewer bytes are sent together in one message.
inline constexpr std::uint64_t small_piece = 64 * 1024;

/// Entry of an answer: the holder has no memory to pack the piece, and sends nothing.
inline constexpr std::byte no_memory{2};

/// True if a piece belongs in the message that all small pieces of an answer share.
[[nodiscard]] constexpr bool is_small(std::uint64_t bytes) noexcept { return bytes < small_piece; }

/// Answers requests and follows orders. Used by one thread: the one that calls MPI in this process.
class Source {
 public:
  Source(std::shared_ptr<MpiCommunicator> comm, ValueStore& value_store);
  /// Waits for messages on their way, because MPI reads memory that this object owns.
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Takes a request (fetch, ranges) or an order. It is answered when its iteration is complete in the value store.
  void request(Packet& packet);
  /// Answers all requests that it can, and frees sent memory. True if something was done or is on its way.
  bool move();
  /// Records that all servers have what they need of iterations below `freed`; orders are then followed further.
  void freed(std::int64_t freed) noexcept { freed_ = std::max(freed_, freed); }
  /// Records that nothing is published from iteration `index` on: the iteration before it is the last for every order.
  void close(std::int64_t index) noexcept { closed_at_ = index; }
  /// After `close`: true if servers know that nothing more comes from here, and all messages were sent.
  [[nodiscard]] bool parted() { return orders_.empty() && send_queue_.sweep(); }
  /// True if values of iteration `index` are requested or on their way.
  [[nodiscard]] bool busy_with(std::int64_t index) const;
  /// True if values of any iteration up to `index` are requested or on their way.
  [[nodiscard]] bool busy_up_to(std::int64_t index) const;
  /// Returns the bytes of values sent for iteration `index` and forgets the number.
  [[nodiscard]] std::uint64_t take_bytes_sent(std::int64_t index);

 private:
  struct Sending {
    std::int64_t index = 0;
    std::vector<MPI_Request> requests;
    std::vector<std::byte*> packed;  ///< buffers to give back
  };
  /// Pieces that a server wants of every iteration.
  struct Order {
    int peer = 0;
    std::int64_t number = 0;
    std::int64_t next = 0;  ///< the iteration to send next
    std::vector<WantedItem> items;
  };
  void take_order(const Packet& packet);
  [[nodiscard]] bool follow_orders();
  void send_standing(const Order& order);
  void tell(const Order& order, PacketKind kind);
  void answer_fetch(const Packet& packet);
  void answer_ranges(const Packet& packet);
  void remember(Packet& packet);
  struct Prepared;
  [[nodiscard]] Prepared prepare(std::int64_t index, std::span<const WantedItem> items);
  void send_large(int peer, std::span<const WantedItem> items, const Prepared& all, Sending& sending);
  void send_pieces(int peer, std::span<const WantedItem> items, const Prepared& all, Sending& sending);

  std::shared_ptr<MpiCommunicator> comm_;
  ValueStore& value_store_;
  RegionPool packs_;
  SendQueue send_queue_;
  std::list<Packet> waiting_;
  std::vector<Order> orders_;
  std::map<int, Bytes> asked_;  ///< each server's last question for ranges
  std::int64_t freed_ = 0, closed_at_ = INT64_MAX;
  std::list<Sending> sending_;
  std::map<std::int64_t, std::uint64_t> bytes_;  ///< bytes sent, by iteration
};

/// Number of bytes of the values at `points`, in the type and components of `record`.
[[nodiscard]] std::uint64_t piece_bytes(const BlockRecord& record, const Box& points);
/// Copies `points` into `out`, contiguous, in the array's own storage order.
void pack_piece(const Arrival& arrival, const Box& points, std::byte* out);

}  // namespace sidestream::mpi
