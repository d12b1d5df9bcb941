// Conditions of tasks: which of them hold in an iteration.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "config/config.hpp"
#include "config/expressions/condition.hpp"

namespace sidestream {

/// Remembers the previous iteration. All servers hold the same state, because they get the same statistics.
class Triggers {
 public:
  explicit Triggers(const std::vector<TaskConfig>& tasks);
  /// True if any task has a condition.
  [[nodiscard]] bool any() const noexcept { return any_; }
  /// The statistics that must be known in each iteration.
  [[nodiscard]] const std::vector<Statistic>& statistics() const noexcept { return statistics_; }
  /// Evaluates the conditions. `values`: of `statistics`; NaN for variables that nobody published.
  void judge(const Iteration& iteration, std::vector<double> values);
  /// Skips an iteration without statistics: no condition holds, and the next iteration is compared with the one before
  /// it.
  void skip() noexcept;
  [[nodiscard]] bool holds(std::size_t task) const { return holds_[task]; }

 private:
  /// A task's condition and the indices of its statistics.
  struct Entry {
    std::shared_ptr<const Condition> condition;
    std::vector<std::size_t> statistics;
  };
  [[nodiscard]] bool judge(const Entry& entry, const Iteration& iteration, const std::vector<double>& values) const;

  std::vector<Entry> entries_;  ///< by task
  std::vector<Statistic> statistics_;
  bool any_ = false;
  std::vector<bool> holds_;
  std::optional<Iteration> before_;
  std::vector<double> values_before_;  ///< of variables that were not published then, the last known value
};

}  // namespace sidestream
