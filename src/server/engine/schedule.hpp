// Schedules and conditions of tasks: whether a task is due, and whether its condition holds in an iteration.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "config/config.hpp"
#include "config/expressions/condition.hpp"
#include "sidestream/data/iteration.hpp"

namespace sidestream {

/// State of one task's schedule. All servers hold the same state, because they feed it the same iterations, and `wall`
/// and `lagging` as agreed by one server.
class ScheduleState {
 public:
  explicit ScheduleState(const Schedule& schedule) : schedule_(schedule) {}

  /// Evaluates a wall-clock schedule; called on one server, once in an iteration. True if `seconds` since the session's
  /// start are past the next due time. The due time advances when the task runs, but not in refused iterations or while
  /// its event is awaited.
  [[nodiscard]] bool wall_due(double seconds) noexcept;
  /// True if the task runs in this iteration; advances the state. `events_match`: true if its event was signalled (or
  /// it has none), and its condition holds (or it has none).
  [[nodiscard]] bool due(const Iteration& iteration, bool events_match, bool wall, bool lagging);
  /// Number of iterations that an `auto` schedule left out because a server lagged.
  [[nodiscard]] std::int64_t thinned() const noexcept { return thinned_; }
  /// True if the task is due in every iteration, whatever its cycle, time and events.
  [[nodiscard]] bool always() const noexcept {
    return schedule_.unit == Schedule::Unit::iterations && schedule_.every == 1 && !schedule_.start && !schedule_.end &&
           schedule_.event.empty() && !schedule_.when;
  }
  [[nodiscard]] const Schedule& schedule() const noexcept { return schedule_; }

 private:
  [[nodiscard]] bool inside(double at) const noexcept;
  [[nodiscard]] bool due_at(double at);
  [[nodiscard]] bool reached(double at);

  Schedule schedule_;
  std::int64_t last_cell_ = INT64_MIN;  ///< multiple of `every` in which it last ran
  bool begun_ = false;                  ///< true after the first iteration within the bounds
  double wall_next_ = 0, wall_seen_ = 0;
  std::int64_t thinned_ = 0;
};

/// Evaluates conditions, and remembers as many iterations as they look back. All servers hold the same state, because
/// they get the same statistics.
class Triggers {
 public:
  explicit Triggers(const std::vector<TaskConfig>& tasks);
  /// True if any task has a condition.
  [[nodiscard]] bool any() const noexcept { return any_; }
  /// The statistics that must be known in each iteration.
  [[nodiscard]] const std::vector<Statistic>& statistics() const noexcept { return statistics_; }
  /// Evaluates the conditions. `values`: values of `statistics`; NaN for variables that were not published.
  void judge(const Iteration& iteration, std::vector<double> values);
  /// Skips an iteration without statistics: no condition holds, and the next iterations are compared with earlier ones.
  void skip() noexcept;
  [[nodiscard]] bool holds(std::size_t task) const { return holds_[task]; }

 private:
  /// A task's condition and the indices of its statistics.
  struct Entry {
    std::shared_ptr<const Condition> condition;
    std::vector<std::size_t> statistics;
  };
  [[nodiscard]] bool judge(const Entry& entry) const;

  std::vector<Entry> entries_;  ///< by task
  std::vector<Statistic> statistics_;
  bool any_ = false;
  std::vector<bool> holds_;
  struct Known {
    Iteration iteration;
    std::vector<double> values;  ///< values of `statistics`; the last known value if a variable was not published
  };
  std::deque<Known> known_;  ///< this iteration and those before it, the newest first
  std::size_t depth_ =
      1;  ///< number of iterations to keep besides the current one; an extra one holds the last known values
};

}  // namespace sidestream
