// Which tasks' conditions hold in an iteration.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "config/config.hpp"
#include "config/expressions/condition.hpp"

namespace sidestream {

/// Remembers the iteration before. All servers hold the same, because they are given the same statistics.
class Triggers {
 public:
  explicit Triggers(const std::vector<TaskConfig>& tasks);
  /// Whether any task has a condition.
  [[nodiscard]] bool any() const noexcept { return any_; }
  /// What must be known of each iteration.
  [[nodiscard]] const std::vector<Statistic>& statistics() const noexcept { return statistics_; }
  /// `values`: of `statistics`; NaN where nobody published the variable.
  void judge(const Iteration& iteration, std::vector<double> values);
  /// The statistics of this iteration are not to be had: no condition holds, and the next one looks back beyond it.
  void skip() noexcept;
  [[nodiscard]] bool holds(std::size_t task) const { return holds_[task]; }

 private:
  /// A task's condition and where its statistics are among all.
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
  std::vector<double> values_before_;  ///< of variables that were not published then, the last that was known
};

}  // namespace sidestream
