// The end that wants values, where it wants the same in every iteration: holders send without being asked each time.
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
#include "transport/mpi/queues.hpp"

namespace sidestream::mpi {

/// How many iterations holders may send before the first of them was freed: one that is analysed, one that comes, one
/// that may come.
inline constexpr std::int64_t standing_window = 2;

/// One thread. An order names what is wanted; a later one replaces it, but what was sent for the earlier one is still
/// taken in.
class StandingFetch {
 public:
  StandingFetch(std::shared_ptr<MpiCommunicator> comm, std::vector<ValueShape> shapes)
      : comm_(std::move(comm)), shapes_(std::move(shapes)) {}
  /// Waits for what MPI still writes here.
  ~StandingFetch();
  StandingFetch(const StandingFetch&) = delete;
  StandingFetch& operator=(const StandingFetch&) = delete;

  /// Orders wanted[n] from rank holders[n], which is another one, for all iterations after `index`. Does nothing if
  /// there is no memory for it: everything goes on being asked for. Not while values of an earlier order are in use.
  void order(std::int64_t index, std::span<const Wanted> wanted, std::span<const int> holders, SendQueue& send_queue);
  /// Whether these pieces of iteration `index` come by themselves.
  [[nodiscard]] bool covers(std::int64_t index, std::span<const Wanted> wanted) const;
  /// What a holder sent for an order, or said of it.
  void take(const Packet& packet);
  /// Whether all holders have the newest order, or have heard that they are in it no more: nothing comes for earlier
  /// ones.
  [[nodiscard]] bool taken() const noexcept { return not_taken_ == 0; }
  /// Whether holders have sent their last, and all of it is here. Waits for nobody.
  [[nodiscard]] bool finished();
  /// True when everything of the iteration is here.
  [[nodiscard]] bool done(std::int64_t index);
  /// After `done`: a rank that had no memory to send from, or -1. Then not all is there.
  [[nodiscard]] int failed(std::int64_t index) const;
  /// After `done`: for each wanted piece its values, or null if its block was not published; valid until the iteration
  /// is released.
  [[nodiscard]] const std::vector<const std::byte*>& values(std::int64_t index) const;
  /// Bytes of values that came.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t sets = standing_window + 1;
  struct Free {
    void operator()(std::byte* p) const noexcept { std::free(p); }
  };
  /// The memory of an iteration and what has come of it.
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
    std::vector<std::uint64_t> bytes, at;             ///< of each piece, and where it goes in the memory of a set
    std::map<int, std::vector<std::size_t>> holders;  ///< pieces by holder, in the order of the packet
    std::array<Set, sets> set;
    std::size_t parted = 0;  ///< holders that have sent their last
  };
  void drop_earlier();
  [[nodiscard]] std::unique_ptr<Order> plan(std::span<const Wanted> wanted, std::span<const int> holders) const;
  [[nodiscard]] static Set& set_of(Order& order, std::int64_t index) {
    return order.set[static_cast<std::size_t>(index) % sets];
  }
  void take_values(const Packet& packet, Order& order, Set& set);

  std::shared_ptr<MpiCommunicator> comm_;
  std::vector<ValueShape> shapes_;  ///< by variable
  std::int64_t number_ = 0;         ///< of the newest order
  std::size_t not_taken_ = 0;       ///< holders that have not said that they have it
  std::map<std::int64_t, std::unique_ptr<Order>> orders_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sidestream::mpi
