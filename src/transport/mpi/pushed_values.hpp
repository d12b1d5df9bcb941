// Values that clients send to their contact without a request; see Moving::pushed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "transport/mpi/value_store.hpp"
#include "transport/region_pool.hpp"

namespace sidestream::mpi {

/// Receives pushed values. Messages wait with their senders until the iteration's turn comes, so that a server holds
/// few iterations at a time, and are received in the order of the manifests. One thread.
class PushedValues {
 public:
  PushedValues(std::shared_ptr<MpiCommunicator> comm, ValueStore& value_store);
  ~PushedValues();
  PushedValues(const PushedValues&) = delete;
  PushedValues& operator=(const PushedValues&) = delete;

  /// Registers an array that rank `source` announced in a manifest.
  void expect(int source, std::int64_t index, const BlockRecord& record);
  /// Registers that the block is declared anew or removed from iteration `index` on.
  void expect_change(std::int64_t index, const BlockChange& change) { changes_[index].push_back(change); }
  /// Posts the receives of iteration `index`; later calls for it do nothing. Throws Error(system) if memory is short.
  /// Then nothing was posted, requests for the iteration are answered with nothing, and it may be called again.
  void begin(std::int64_t index);
  /// True if all of the iteration has arrived; it is then complete in the value store.
  [[nodiscard]] bool arrived(std::int64_t index);
  /// After `arrived`: frees the iteration's values.
  void release(std::int64_t index);
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  [[nodiscard]] std::vector<std::byte*> memory_for(std::int64_t index);
  struct Expected {
    int source;
    BlockRecord record;
  };
  struct Coming {
    std::vector<MPI_Request> requests;
    std::vector<std::byte*> replaced;  ///< arrays that another client's array of the same name replaced
    bool complete = false;
  };
  std::shared_ptr<MpiCommunicator> comm_;
  ValueStore& value_store_;
  RegionPool pool_;
  std::map<std::int64_t, std::vector<Expected>> expected_;
  std::map<std::int64_t, std::vector<BlockChange>> changes_;
  std::map<std::int64_t, Coming> coming_;
  std::uint64_t bytes_ = 0;
};

}  // namespace sidestream::mpi
