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
#include "transport/mpi/fetcher.hpp"
#include "transport/mpi/packet.hpp"

namespace sidestream::mpi {

/// Number of iterations that holders may send beyond the oldest unfreed one. A server thus has one iteration in
/// analysis, one arriving, and one that may arrive.
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
  /// Memory of one iteration, and its received values.
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
