// What was published and is kept where it is until servers have fetched what they need.
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

/// Arrays by iteration, variable and block. The memory belongs to whoever puts it here, who keeps it until the
/// iteration is dropped. Safe to use from two threads: one publishes, the other answers requests.
class ValueStore {
 public:
  /// Returns an array of the same iteration that this one replaces: two clients have declared one block.
  std::optional<Arrival> put(std::int64_t index, const Arrival& arrival);
  /// The iteration is complete: requests for it can be answered. `refused`: nobody will use it.
  void complete(std::int64_t index, bool refused = false);
  [[nodiscard]] bool is_refused(std::int64_t index) const;
  [[nodiscard]] bool is_complete(std::int64_t index) const;
  /// The array of that iteration, or, of one that outlives iterations, the newest up to it.
  [[nodiscard]] std::optional<Arrival> find(std::int64_t index, std::int32_t variable, std::int64_t block) const;
  /// All of a variable in that iteration.
  [[nodiscard]] std::vector<Arrival> of(std::int64_t index, std::int32_t variable) const;
  /// Forgets the iteration, and returns the arrays that nobody can ask for any more: its own, and those that outlived
  /// iterations and were replaced up to this one or whose block went. Iterations are dropped in order.
  [[nodiscard]] std::vector<Arrival> drop(std::int64_t index);
  /// Takes out the newest array that outlives iterations, if there is one; no iteration may ask for it any more.
  [[nodiscard]] std::optional<Arrival> take_kept(std::int32_t variable, std::int64_t block);
  /// The block is declared anew or removed from iteration `index` on: what was kept of it ends there, unless it is
  /// declared as it was, or removed by a client that had given it up before.
  void forget(std::int64_t index, const Block& block, bool removed);

 private:
  using Key = std::pair<std::int32_t, std::int64_t>;  ///< variable, block
  struct Kept {
    std::int64_t since = 0;
    Arrival arrival;
    std::int64_t until = INT64_MAX;  ///< the first iteration that does not have it
  };
  [[nodiscard]] const Kept* kept(std::int64_t index, const Key& key) const;

  mutable std::mutex mutex_;
  std::map<std::int64_t, std::map<Key, Arrival>> iterations_;
  std::map<Key, std::vector<Kept>> persistent_;  ///< oldest first
  std::set<std::int64_t> refused_;               ///< of those not dropped
  std::int64_t completed_ = 0;                   ///< iterations below this are complete
};

}  // namespace sidestream::mpi
