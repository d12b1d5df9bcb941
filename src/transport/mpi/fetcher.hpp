// Fetching of values: requests pieces from their holders and receives the answers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "sidestream/extend/transport.hpp"
#include "sidestream/kit/base/region_pool.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/value_store.hpp"

namespace sidestream::mpi {

/// Type and number of components of a variable; with them a piece's length is known before it arrives.
struct ValueShape {
  Type type = Type::float64;
  std::int32_t components = 1;
};

/// Fetches values in rounds: call `ask`, feed every answer to `take`, and `move` until `done`. Several rounds may
/// precede a `release`, which frees the values of all of them. One round at a time, one thread.
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

}  // namespace sidestream::mpi
