// The needs of a group's tasks, for its clients.
#pragma once

#include <optional>
#include <vector>

#include "config/config.hpp"
#include "server/engine/scheduled_task.hpp"
#include "sidestream/extend/transport.hpp"

namespace sidestream {

/// Facts about a group of servers.
struct NeedsOf {
  std::uint64_t epoch = 0;  ///< see Feed
  std::size_t group = 0;
  std::int64_t first = 0;  ///< its first iteration
  bool may_end = false;    ///< the run may be told to end, where checkpoints run whatever their schedule
};

/// The notice about the tasks of a group. Nothing if any variable may be asked for, or if the placement does not tell
/// (`nodes`). `statistics`: those of conditions, needed in every iteration; null: none.
[[nodiscard]] std::optional<Notice> needs_of(const Config& config, const NeedsOf& servers,
                                             std::vector<ScheduledTask>& tasks, const ScheduledTask* statistics);

}  // namespace sidestream
