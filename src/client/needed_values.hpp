// A client's knowledge of what its servers need.
//
//   servers begin to serve, with iteration f:  each group sends a notice with the needs of its tasks
//   a client begins iteration f + max_in_flight: f is released, so all clients have the notices and decide alike
//   other servers come (`sidecar`):            all counts as needed again, until their notices count
//
// All clients have to decide alike, since servers would take blocks that only some of them publish for losses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "data/needed_variables.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

class NeededValues {
 public:
  explicit NeededValues(int max_in_flight) : max_in_flight_(max_in_flight) {}

  /// Forgets what earlier servers told; only notices of these count from now on.
  void begin(std::uint64_t epoch) {
    epoch_ = epoch;
    groups_.clear();
  }
  /// Takes a notice; ignores other kinds.
  void take(const Notice& notice) {
    if (notice.kind != needs_notice) return;
    auto told = unpacked_fields<GroupNeeds>(ByteReader(notice.payload));
    if (told.epoch != epoch_) return;
    first_ = notice.iteration;
    groups_[told.group] = std::move(told);
  }
  /// False if no task of any server runs with the variable in iteration `index`. Call it when the iteration has begun
  /// and all notices were taken.
  [[nodiscard]] bool needed(std::int32_t variable, std::int64_t index, std::optional<std::int64_t> cycle) const {
    const bool all_told = !groups_.empty() && groups_.size() == groups_.begin()->second.groups;
    if (!all_told || index < first_ + max_in_flight_) return true;
    const auto needs = [&](const NeedRule& rule) { return rule.has(variable) && rule.may_run(index, cycle); };
    return std::any_of(groups_.begin(), groups_.end(), [&](const auto& group) {
      return std::any_of(group.second.rules.begin(), group.second.rules.end(), needs);
    });
  }

 private:
  int max_in_flight_;
  std::uint64_t epoch_ = 0;
  std::int64_t first_ = 0;                      ///< iteration of the servers
  std::map<std::uint32_t, GroupNeeds> groups_;  ///< those that have told
};

}  // namespace sidestream
