#include "session/serving/told_needs.hpp"

#include <algorithm>

#include "data/derivation.hpp"
#include "data/needed_variables.hpp"

namespace sidestream {

namespace {

/// The rule of a schedule, without variables. Refused iterations do not shift multiples of iterations and cycles.
/// Events and conditions only make a task run less often.
NeedRule rule_of(const Schedule& schedule) {
  NeedRule rule;
  const bool counts = schedule.unit == Schedule::Unit::iterations || schedule.unit == Schedule::Unit::cycles;
  if (!counts || schedule.first) return rule;
  rule.unit = schedule.unit == Schedule::Unit::cycles ? NeedRule::Unit::cycles : NeedRule::Unit::iterations;
  rule.every = schedule.every;
  rule.start = schedule.start.value_or(rule.start);
  rule.end = schedule.end.value_or(rule.end);
  return rule;
}

void add(const NeedRule& rule, std::vector<NeedRule>& rules) {
  const auto same = std::find_if(rules.begin(), rules.end(), [&](const NeedRule& other) {
    return other.unit == rule.unit && other.every == rule.every && other.start == rule.start && other.end == rule.end;
  });
  if (same == rules.end()) return rules.push_back(rule);
  const std::vector<std::uint64_t>& words = rule.variables;
  std::vector<std::uint64_t>& into = same->variables;
  into.resize(std::max(into.size(), words.size()), 0);
  for (std::size_t w = 0; w < words.size(); ++w) into[w] |= words[w];
}

/// Adds what the task reads: values, ranges, and the arrays of all meshes for a list of blocks, whose bounds follow
/// from these. A list of blocks without values needs all meshes to be published.
void add_needs(const ScheduledTask& task, const Metadata& metadata, NeedRule& rule) {
  for (const Selected& input : task.inputs()) rule.add(input.variable);
  for (const RangeRequest& range : task.selection().ranges) {
    for (const Selected& input : inputs_of({range.variable}, metadata)) rule.add(input.variable);
  }
  if (!task.selection().catalogue) return;
  for (const Variable& variable : metadata.variables) {
    if (variable.role != Role::none || task.inputs().empty()) rule.add(variable.id);
  }
}

}  // namespace

std::optional<Notice> needs_of(const Config& config, const NeedsOf& servers, std::vector<ScheduledTask>& tasks,
                               const ScheduledTask* statistics) {
  const PlacementConfig& placement = config.opening.placement;
  if (config.live.requests || placement.mode == PlacementMode::nodes) return std::nullopt;
  GroupNeeds all;
  all.epoch = servers.epoch;
  all.group = static_cast<std::uint32_t>(servers.group);
  all.groups = static_cast<std::uint32_t>(std::max<std::size_t>(1, placement.groups.size()));
  for (ScheduledTask& task : tasks) {
    NeedRule rule = servers.may_end && task.for_restart() ? NeedRule() : rule_of(task.schedule().schedule());
    add_needs(task, config.metadata, rule);
    add(rule, all.rules);
  }
  if (statistics) {
    NeedRule always;
    add_needs(*statistics, config.metadata, always);
    add(always, all.rules);
  }
  Notice notice{servers.first, needs_notice, packed_fields(all)};
  if (notice.payload.size() <= longest_notice) return notice;
  std::vector<NeedRule> joined;  // many schedules become one that is always due
  for (NeedRule& rule : all.rules) {
    NeedRule any;
    any.variables = std::move(rule.variables);
    add(any, joined);
  }
  all.rules = std::move(joined);
  notice.payload = packed_fields(all);
  if (notice.payload.size() > longest_notice) return std::nullopt;
  return notice;
}

}  // namespace sidestream
