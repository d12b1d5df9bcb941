// The end that holds values: answers the requests of servers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/queues.hpp"
#include "transport/mpi/value_store.hpp"
#include "transport/region_pool.hpp"

namespace sidestream::mpi {

/// Pieces below this travel together in one message.
inline constexpr std::uint64_t small_piece = 64 * 1024;

/// In an answer: the holder has no memory to pack what was asked for, and sends nothing.
inline constexpr std::byte no_memory{2};

/// Whether a piece goes into the message that all small ones of an answer share.
[[nodiscard]] constexpr bool is_small(std::uint64_t bytes) noexcept { return bytes < small_piece; }

/// Used by one thread: the one that calls MPI in this process.
class Source {
 public:
  Source(std::shared_ptr<MpiCommunicator> comm, ValueStore& value_store);
  /// Waits for what is on its way: MPI reads from memory that goes with this object.
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Takes a request (fetch, ranges) or an order. It is answered when its iteration is complete in the value store.
  void request(Packet& packet);
  /// Answers what can be answered, and frees what has left. True if something was done or is on its way.
  bool move();
  /// All servers have what they need of iterations below `freed`: orders are followed a little further.
  void freed(std::int64_t freed) noexcept { freed_ = std::max(freed_, freed); }
  /// Nothing is published from iteration `index` on: what is sent before it is the last for every order.
  void close(std::int64_t index) noexcept { closed_at_ = index; }
  /// After `close`: servers know that nothing more comes from here, and what they were told has left.
  [[nodiscard]] bool parted() { return orders_.empty() && send_queue_.sweep(); }
  /// Whether values of iteration `index` are on their way or asked for.
  [[nodiscard]] bool busy_with(std::int64_t index) const;
  /// The same of an iteration up to `index`.
  [[nodiscard]] bool busy_up_to(std::int64_t index) const;
  /// Bytes of values sent of iteration `index`; forgets the number.
  [[nodiscard]] std::uint64_t take_bytes_sent(std::int64_t index);

 private:
  struct Sending {
    std::int64_t index = 0;
    std::vector<MPI_Request> requests;
    std::vector<std::byte*> packed;  ///< to give back
  };
  /// What a server wants of every iteration.
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
  std::int64_t freed_ = 0, closed_at_ = INT64_MAX;
  std::list<Sending> sending_;
  std::map<std::int64_t, std::uint64_t> bytes_;  ///< by iteration
};

/// Bytes of `points` of an array like this one.
[[nodiscard]] std::uint64_t piece_bytes(const BlockRecord& record, const Box& points);
/// Copies `points` into `out` without gaps, in the array's own order.
void pack_piece(const Arrival& arrival, const Box& points, std::byte* out);

}  // namespace sidestream::mpi
