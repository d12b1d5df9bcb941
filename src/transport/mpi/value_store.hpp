// Published arrays that stay in place until servers have fetched what they need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "sidestream/extend/transport.hpp"

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
  /// Tells that the block is declared anew or removed from iteration `index` on. Persistent arrays of it end there,
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

}  // namespace sidestream::mpi
