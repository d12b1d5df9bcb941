// The end that wants values: asks holders for pieces and takes in what they answer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "sidestream/extend/transport.hpp"
#include "transport/mpi/packet.hpp"
#include "transport/mpi/queues.hpp"
#include "transport/mpi/value_store.hpp"
#include "transport/region_pool.hpp"

namespace sidestream::mpi {

/// What a variable's values look like: needed to know how long a piece is before it comes.
struct ValueShape {
  Type type = Type::float64;
  std::int32_t components = 1;
};

/// One round of requests at a time: `ask` all holders, feed every answer to `take`, `move` until `done`. There may be
/// several rounds before a `release`, which frees what all of them brought. One thread.
class Fetcher {
 public:
  Fetcher(std::shared_ptr<MpiCommunicator> comm, std::vector<ValueShape> shapes);
  /// Waits for what MPI still writes here.
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  /// Asks rank holders[n] for wanted[n] of iteration `index`; those that this rank holds are taken from `own`. Throws
  /// Error(system) for want of memory, before anything was asked.
  void ask(std::int64_t index, std::span<const Wanted> wanted, std::span<const int> holders, const ValueStore& own,
           SendQueue& send_queue);
  /// An answer to the round. False: to another round, drop it.
  bool take(const Packet& answer);
  /// True when everything of the round is here.
  [[nodiscard]] bool done();
  /// After `done`: a rank that had no memory to send from, or -1. Then not all is there.
  [[nodiscard]] int failed() const noexcept { return failed_; }
  /// For each wanted piece its values, or null if its block was not published; valid until `release`.
  [[nodiscard]] const std::vector<const std::byte*>& values() const noexcept { return values_; }
  /// Frees the memory of all rounds since the last one.
  void release();
  /// Bytes of values that came from other ranks.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Asked {
    std::vector<std::size_t> pieces;  ///< numbers in the round, in the order of the request
    std::byte* together = nullptr;    ///< where the small ones go
    std::vector<std::byte*> large;    ///< where each of the others goes, in their order
    bool answered = false;
  };
  [[nodiscard]] std::uint64_t bytes_of_piece(std::size_t n) const;
  [[nodiscard]] std::byte* memory(std::uint64_t bytes);
  void reserve(Asked& asked);
  void give_back_from(std::size_t first) noexcept;
  void forget_round() noexcept;
  void take_own(std::int64_t index, std::size_t n, const ValueStore& own);

  std::shared_ptr<MpiCommunicator> comm_;
  std::vector<ValueShape> shapes_;  ///< by variable
  RegionPool pool_;
  std::int64_t number_ = 0;
  std::vector<Wanted> wanted_;
  std::vector<const std::byte*> values_;
  std::map<int, Asked> asked_;  ///< by holder
  std::vector<MPI_Request> requests_;
  std::vector<std::byte*> taken_;
  int failed_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace sidestream::mpi
