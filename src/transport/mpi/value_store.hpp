// Values of clients in placement `nodes`: published arrays that servers fetch, and values that clients push.
//
// Arrays stay in place until servers have fetched what they need. Pushed values go to the contact of the client without
// a request; see Moving::pushed.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "sidestream/extend/transport.hpp"
#include "sidestream/kit/base/region_pool.hpp"

namespace sidestream::mpi {

/// Arrays by iteration, variable and block. The memory belongs to the caller, who keeps it until the iteration is
/// dropped. Safe to use from two threads: one publishes, the other answers requests.
class ValueStore {
 public:
  /// Adds an array. Returns an array of the same iteration that it replaces, if two clients declare one block.
  std::optional<Arrival> put(std::int64_t index, const Arrival& arrival);
  /// Marks the iteration complete, so that requests for it can be answered. `refused`: nobody will use it.
  void complete(std::int64_t index, bool refused = false);
  [[nodiscard]] bool is_refused(std::int64_t index) const;
  [[nodiscard]] bool is_complete(std::int64_t index) const;
  /// Finds the array of that iteration, or the newest persistent one up to it.
  [[nodiscard]] std::optional<Arrival> find(std::int64_t index, std::int32_t variable, std::int64_t block) const;
  /// Returns all arrays of a variable in that iteration.
  [[nodiscard]] std::vector<Arrival> of(std::int64_t index, std::int32_t variable) const;
  /// Forgets the iteration. Returns the arrays that nobody can request any more: its own, and persistent ones that were
  /// replaced, or whose block was removed, up to this iteration. Iterations must be dropped in order.
  [[nodiscard]] std::vector<Arrival> drop(std::int64_t index);
  /// Removes and returns the newest persistent array, if there is one. No iteration may request it any more.
  [[nodiscard]] std::optional<Arrival> take_kept(std::int32_t variable, std::int64_t block);
  /// Records that the block is declared anew or removed from iteration `index` on. Persistent arrays of it end there,
  /// unless its declaration is unchanged or the removal comes from a client that had given it up before.
  void forget(std::int64_t index, const Block& block, bool removed);

 private:
  using Key = std::pair<std::int32_t, std::int64_t>;  ///< variable, block id
  struct Kept {
    std::int64_t since = 0;
    Arrival arrival;
    std::int64_t until = INT64_MAX;  ///< the first iteration that does not have it
  };
  [[nodiscard]] const Kept* kept(std::int64_t index, const Key& key) const;

  mutable std::mutex mutex_;
  std::map<std::int64_t, std::map<Key, Arrival>> iterations_;
  std::map<Key, std::vector<Kept>> persistent_;  ///< oldest first
  std::set<std::int64_t> refused_;               ///< refused iterations that are not dropped
  std::int64_t completed_ = 0;                   ///< iterations below this are complete
};

/// Receives pushed values in the order of the manifests. Messages wait with their senders until the iteration's turn
/// comes, so that a server holds few iterations at a time. One thread.
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
