// Fetching of values: requests pieces from their holders and receives the answers.
// Standing orders of a server that wants the same pieces in every iteration: holders send without further requests.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "sidestream/extend/transport.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/value_store.hpp"
#include "transport/region_pool.hpp"

namespace sidestream::mpi {

/// Type and number of components of a variable; with them a piece's length is known before it arrives.
struct ValueShape {
  Type type = Type::float64;
  std::int32_t components = 1;
};

/// Fetches values in rounds: `ask` all holders, feed every answer to `take`, `move` until `done`. There may be several
/// rounds before a `release`, which frees the values of all of them. One round at a time, one thread.
class Fetcher {
 public:
  Fetcher(std::shared_ptr<MpiCommunicator> comm, std::vector<ValueShape> shapes);
  /// Waits until MPI no longer writes to this object's memory.
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  /// Requests wanted[n] of iteration `index` from rank holders[n]; pieces that this rank holds are taken from `own`.
  /// Throws Error(system) if memory is short, before anything is requested.
  void ask(std::int64_t index, std::span<const Wanted> wanted, std::span<const int> holders, const ValueStore& own,
           SendQueue& send_queue);
  /// Takes an answer. Returns false if it belongs to another round and must be dropped.
  bool take(const Packet& answer);
  /// True when all values of the round have arrived.
  [[nodiscard]] bool done();
  /// After `done`: a rank that had no memory to send from, or -1. If it is not -1, values are missing.
  [[nodiscard]] int failed() const noexcept { return failed_; }
  /// Values of each wanted piece, or null if its block was not published; valid until `release`.
  [[nodiscard]] const std::vector<const std::byte*>& values() const noexcept { return values_; }
  /// Frees the memory of all rounds since the last release.
  void release();
  /// Bytes of values received from other ranks.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Asked {
    std::vector<std::size_t> pieces;  ///< numbers of the pieces in the round, in the order of the request
    std::byte* together = nullptr;    ///< destination of the small pieces
    std::vector<std::byte*> large;    ///< destination of each large piece, in their order
    bool answered = false;
  };
  [[nodiscard]] std::uint64_t bytes_of_piece(std::size_t n) const;
  [[nodiscard]] std::byte* memory(std::uint64_t bytes);
  void reserve(Asked& asked);
  void give_back_from(std::size_t first) noexcept;
  void forget_round() noexcept;
  void take_own(std::int64_t index, std::size_t n, const ValueStore& own);

  std::shared_ptr<MpiCommunicator> comm_;
  std::vector<ValueShape> shapes_;  ///< shapes by variable
  RegionPool pool_;
  std::int64_t number_ = 0;
  std::vector<Wanted> wanted_;
  std::vector<const std::byte*> values_;
  std::map<int, Asked> asked_;  ///< requests by holder
  std::vector<MPI_Request> requests_;
  std::vector<std::byte*> taken_;
  int failed_ = -1;
  std::uint64_t bytes_ = 0;
};

/// Number of iterations that holders may send beyond the oldest one that is not freed. So a server has one that is
/// analysed, one that arrives, and one that may arrive.
inline constexpr std::int64_t standing_window = 2;

/// Receives values for standing orders. A new order replaces the previous one; values already sent for the previous one
/// are still received. One thread.
class StandingFetch {
 public:
  StandingFetch(std::shared_ptr<MpiCommunicator> comm, std::vector<ValueShape> shapes)
      : comm_(std::move(comm)), shapes_(std::move(shapes)) {}
  /// Waits until MPI no longer writes to this object's memory.
  ~StandingFetch();
  StandingFetch(const StandingFetch&) = delete;
  StandingFetch& operator=(const StandingFetch&) = delete;

  /// Orders wanted[n] from rank holders[n], which must be another rank, for all iterations after `index`. Does nothing
  /// if memory is short; values are then requested as before. Must not be called while values of an earlier order are
  /// in use.
  void order(std::int64_t index, std::span<const Wanted> wanted, std::span<const int> holders, SendQueue& send_queue);
  /// True if these pieces of iteration `index` arrive without a request.
  [[nodiscard]] bool covers(std::int64_t index, std::span<const Wanted> wanted) const;
  /// Takes a holder's packet about an order.
  void take(const Packet& packet);
  /// True if all holders have confirmed the newest order, or that they are no longer part of it. Nothing arrives for
  /// earlier orders then.
  [[nodiscard]] bool taken() const noexcept { return not_taken_ == 0; }
  /// True if holders have sent their last values and all have arrived. Never blocks.
  [[nodiscard]] bool finished();
  /// True when all of the iteration has arrived.
  [[nodiscard]] bool done(std::int64_t index);
  /// After `done`: a rank that had no memory to send from, or -1. If it is not -1, values are missing.
  [[nodiscard]] int failed(std::int64_t index) const;
  /// After `done`: values of each wanted piece, or null if its block was not published; valid until the iteration is
  /// released.
  [[nodiscard]] const std::vector<const std::byte*>& values(std::int64_t index) const;
  /// Bytes of values received.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t sets = standing_window + 1;
  struct Free {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  /// Memory of one iteration, and what has arrived in it.
  struct Set {
    std::int64_t index = -1;
    std::unique_ptr<std::byte, Free> memory;
    std::vector<const std::byte*> values;
    std::vector<MPI_Request> requests;
    std::size_t answers = 0;
    int failed = -1;
  };
  struct Order {
    std::int64_t first = 0;
    std::vector<Wanted> wanted;
    std::vector<std::uint64_t> bytes, at;  ///< of each piece: its size, and its offset in the memory of a set
    std::map<int, std::vector<std::size_t>> holders;  ///< pieces by holder, in the order of the packet
    std::array<Set, sets> set;
    std::size_t parted = 0;  ///< holders that have sent their last values
  };
  void drop_earlier();
  [[nodiscard]] std::unique_ptr<Order> plan(std::span<const Wanted> wanted, std::span<const int> holders) const;
  [[nodiscard]] static Set& set_of(Order& order, std::int64_t index) {
    return order.set[static_cast<std::size_t>(index) % sets];
  }
  void take_values(const Packet& packet, Order& order, Set& set);

  std::shared_ptr<MpiCommunicator> comm_;
  std::vector<ValueShape> shapes_;  ///< shapes by variable
  std::int64_t number_ = 0;         ///< number of the newest order
  std::size_t not_taken_ = 0;       ///< holders that have not confirmed the newest order
  std::map<std::int64_t, std::unique_ptr<Order>> orders_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sidestream::mpi
