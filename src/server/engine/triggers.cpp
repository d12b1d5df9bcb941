#include "server/engine/triggers.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sidestream {

Triggers::Triggers(const std::vector<TaskConfig>& tasks) : holds_(tasks.size(), true) {
  for (const TaskConfig& task : tasks) {
    Entry& entry = entries_.emplace_back(Entry{task.schedule.when, {}});
    if (!entry.condition) continue;
    any_ = true;
    for (const Statistic& statistic : entry.condition->statistics()) {
      const auto found = std::find(statistics_.begin(), statistics_.end(), statistic);
      entry.statistics.push_back(static_cast<std::size_t>(found - statistics_.begin()));
      if (found == statistics_.end()) statistics_.push_back(statistic);
    }
  }
}

bool Triggers::judge(const Entry& entry, const Iteration& iteration, const std::vector<double>& values) const {
  if (!entry.condition) return true;
  std::vector<double> now, before;
  for (const std::size_t n : entry.statistics) now.push_back(values[n]);
  if (!before_) return entry.condition->holds({iteration, now}, nullptr);
  for (const std::size_t n : entry.statistics) before.push_back(values_before_[n]);
  const Facts then{*before_, before};
  return entry.condition->holds({iteration, now}, &then);
}

void Triggers::judge(const Iteration& iteration, std::vector<double> values) {
  for (std::size_t t = 0; t < entries_.size(); ++t) holds_[t] = judge(entries_[t], iteration, values);
  for (std::size_t n = 0; before_ && n < values.size(); ++n) {
    if (std::isnan(values[n])) values[n] = values_before_[n];
  }
  before_ = iteration;
  values_before_ = std::move(values);
}

void Triggers::skip() noexcept {
  for (std::size_t t = 0; t < entries_.size(); ++t) holds_[t] = !entries_[t].condition;
}

}  // namespace sidestream
