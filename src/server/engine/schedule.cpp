#include "server/engine/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sidestream {

namespace {

/// Tolerance in units of `every`: a time computed by adding dt may miss its target by a rounding error.
constexpr double slack_of_time = 1e-9;

}  // namespace

bool ScheduleState::inside(double at) const noexcept {
  const double slack = schedule_.unit == Schedule::Unit::time ? slack_of_time * schedule_.every : 0;
  return (!schedule_.start || at >= *schedule_.start - slack) && (!schedule_.end || at <= *schedule_.end + slack);
}

bool ScheduleState::wall_due(double seconds) noexcept {
  wall_seen_ = seconds;
  return schedule_.unit == Schedule::Unit::wall && inside(seconds) && seconds >= wall_next_;
}

bool ScheduleState::reached(double at) {
  const double origin = schedule_.start.value_or(0);
  const bool multiple = std::fmod(at - origin, schedule_.every) == 0;
  if (schedule_.unit == Schedule::Unit::iterations) return multiple;
  // Runs at multiples only, so that output is evenly spaced even if a restart begins between them. Cycles may repeat;
  // each runs once.
  if (schedule_.unit == Schedule::Unit::cycles && !multiple) return false;
  // Times skip multiples, so the task runs once in each interval that time enters.
  const double slack = schedule_.unit == Schedule::Unit::time ? slack_of_time : 0;
  const auto cell = static_cast<std::int64_t>(std::floor((at - origin) / schedule_.every + slack));
  if (cell == last_cell_) return false;
  last_cell_ = cell;
  return true;
}

bool ScheduleState::due_at(double at) {
  if (!inside(at)) return false;
  const bool is_first = !begun_ && schedule_.first, is_reached = reached(at);
  begun_ = true;
  return is_first || is_reached;
}

bool ScheduleState::due(const Iteration& iteration, bool events_match, bool wall, bool lagging) {
  if (!events_match) return false;
  switch (schedule_.unit) {
    case Schedule::Unit::wall:
      // Next multiple after now; missed times are not made up for.
      if (wall) wall_next_ = (std::floor(wall_seen_ / schedule_.every) + 1) * schedule_.every;
      return wall;
    case Schedule::Unit::automatic:
      if (!inside(static_cast<double>(iteration.index))) return false;
      if (lagging) ++thinned_;
      return !lagging;
    case Schedule::Unit::iterations:
      return due_at(static_cast<double>(iteration.index));
    case Schedule::Unit::cycles:
      return due_at(static_cast<double>(iteration.cycle));
    case Schedule::Unit::time:
      break;
  }
  return due_at(iteration.time);
}

Triggers::Triggers(const std::vector<TaskConfig>& tasks) : holds_(tasks.size(), true) {
  for (const TaskConfig& task : tasks) {
    Entry& entry = entries_.emplace_back(Entry{task.schedule.when, {}});
    if (!entry.condition) continue;
    any_ = true;
    depth_ = std::max(depth_, entry.condition->depth());
    for (const Statistic& statistic : entry.condition->statistics()) {
      const auto found = std::find(statistics_.begin(), statistics_.end(), statistic);
      entry.statistics.push_back(static_cast<std::size_t>(found - statistics_.begin()));
      if (found == statistics_.end()) statistics_.push_back(statistic);
    }
  }
}

bool Triggers::judge(const Entry& entry) const {
  if (!entry.condition) return true;
  const std::size_t count = std::min(known_.size(), entry.condition->depth() + 1), width = entry.statistics.size();
  std::vector<double> values(count * width);
  std::vector<Facts> facts;
  for (std::size_t back = 0; back < count; ++back) {
    const std::span<double> some = std::span(values).subspan(back * width, width);
    for (std::size_t n = 0; n < width; ++n) some[n] = known_[back].values[entry.statistics[n]];
    facts.push_back({known_[back].iteration, some});
  }
  return entry.condition->holds(facts);
}

void Triggers::judge(const Iteration& iteration, std::vector<double> values) {
  known_.push_front({iteration, std::move(values)});
  for (std::size_t t = 0; t < entries_.size(); ++t) holds_[t] = judge(entries_[t]);
  std::vector<double>& now = known_.front().values;
  for (std::size_t n = 0; known_.size() > 1 && n < now.size(); ++n) {
    if (std::isnan(now[n])) now[n] = known_[1].values[n];
  }
  if (known_.size() > depth_) known_.pop_back();
}

void Triggers::skip() noexcept {
  for (std::size_t t = 0; t < entries_.size(); ++t) holds_[t] = !entries_[t].condition;
}

}  // namespace sidestream
