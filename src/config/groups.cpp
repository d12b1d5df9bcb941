#include "config/groups.hpp"

#include <algorithm>
#include <cmath>

#include "config/options/fail_at.hpp"
#include "config/options/names.hpp"

namespace sidestream {

namespace {

std::vector<std::string> names_of(const std::vector<ServerGroup>& groups) {
  std::vector<std::string> names;
  for (const ServerGroup& group : groups) names.push_back(group.name);
  return names;
}

int size_of_group(const Entry& entry, const ExpressionContext& context) {
  const Node& node = entry.value;
  if (node.kind == Node::Kind::scalar && node.text == "auto") return 0;
  constexpr double most = 1 << 20;
  if (node.kind == Node::Kind::scalar) {
    const double size = as_real(evaluate(node.text, context, fmt::format("the group '{}'", entry.key), node.where));
    if (size >= 1 && size <= most && size == std::floor(size)) return static_cast<int>(size);
  }
  fail_at(node.where, "found {} for the group '{}', expected a number of servers from 1, or auto; write '{}: 2'",
          node.description(), entry.key, entry.key);
}

}  // namespace

std::vector<ServerGroup> read_groups(const Node& placement, const ExpressionContext& context) {
  std::vector<ServerGroup> groups;
  const Entry* const given = placement.find("groups");
  if (given == nullptr) return groups;
  if (given->value.kind != Node::Kind::map || given->value.entries.empty()) {
    fail_at(given->value.where,
            "found {} for 'groups', expected names and sizes; write 'groups: {{halos: 2, spectra: 4}}', or remove it",
            given->value.kind == Node::Kind::map ? "an empty map" : given->value.description());
  }
  constexpr std::size_t most = 64;
  if (given->value.entries.size() > most) {
    fail_at(given->value.entries[most].where, "found {} groups, expected at most {}; join some",
            given->value.entries.size(), most);
  }
  for (const Entry& entry : given->value.entries) {
    if (entry.key.empty()) {
      fail_at(entry.where, "found a group without a name, expected a name of letters; give it one");
    }
    groups.push_back({entry.key, size_of_group(entry, context), entry.where});
  }
  return groups;
}

int servers_of(const std::vector<ServerGroup>& groups) {
  int servers = 0;
  for (const ServerGroup& group : groups) {
    if (group.size == 0) return 0;
    servers += group.size;
  }
  return servers;
}

int least_servers_of(const std::vector<ServerGroup>& groups) {
  int least = 0;
  for (const ServerGroup& group : groups) least += std::max(group.size, 1);
  return least;
}

bool can_be_divided(const std::vector<ServerGroup>& groups, int servers) {
  const int least = least_servers_of(groups);
  return servers_of(groups) > 0 ? servers == least : servers >= least;
}

void check_group_sizes(const std::vector<ServerGroup>& groups, int servers, const char* which) {
  if (groups.empty() || can_be_divided(groups, servers)) return;
  const int least = least_servers_of(groups);
  const bool exact = servers_of(groups) > 0;
  fail_at(groups.front().where,
          "found groups of {} server{} in all for the {} of '{}', expected {}; change the sizes, or write '{}: {}'",
          least, least == 1 ? "" : "s", servers, which,
          exact ? "each server in one group" : "at least one server for each group", which, least);
}

std::size_t group_named(const std::vector<ServerGroup>& groups, const std::string& name, const Location& where) {
  for (std::size_t n = 0; n < groups.size(); ++n) {
    if (groups[n].name == name) return n;
  }
  const std::vector<std::string> known = names_of(groups);
  fail_at(where, "found the unknown group '{}', expected one of {}; {}", name, listed(known),
          suggestion(name, known, "add it to 'placement.groups'"));
}

void check_groups_used(const std::vector<ServerGroup>& groups, const std::vector<TaskConfig>& tasks) {
  for (std::size_t n = 0; n < groups.size(); ++n) {
    if (std::any_of(tasks.begin(), tasks.end(), [&](const TaskConfig& task) { return task.group == n; })) continue;
    fail_at(
        groups[n].where,
        "found no analysis and no output in the group '{}', expected at least one, or its servers have nothing to do; "
        "write 'group: {}' where it is to run, or remove the group",
        groups[n].name, groups[n].name);
  }
}

std::size_t group_of_server(const std::vector<ServerGroup>& groups, int server) {
  std::size_t group = 0;
  for (int first = 0; group + 1 < groups.size() && server >= first + groups[group].size; ++group) {
    first += groups[group].size;
  }
  return group;
}

}  // namespace sidestream
