// Groups of servers: their names and sizes, and how a placement divides ranks.
//
// read_groups and the checks before the start compare sizes with the number of servers. check_split, client_count and
// most_clients_on_a_node compute the roles of R ranks on N nodes, divided evenly, without starting any: `sidestream
// check` and `plan` use them.
#include "config/groups.hpp"

#include <algorithm>
#include <cmath>

#include "sidestream/kit/base/names.hpp"

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

namespace {

std::string counted(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

bool forwards(const PlacementConfig& placement) {
  return placement.mode == PlacementMode::nodes && placement.forward != Forward::none;
}

bool serves_by_node(const PlacementConfig& placement) {
  return placement.mode == PlacementMode::cores || placement.mode == PlacementMode::job;
}

/// The ranks of one node, in order.
struct Span {
  int first = 0, end = 0;
  [[nodiscard]] int size() const { return end - first; }
};

Span ranks_of(int node, int ranks, int nodes) {
  const auto cut = [&](std::int64_t n) { return static_cast<int>((n * ranks + nodes - 1) / nodes); };
  return {cut(node), cut(std::int64_t{node} + 1)};
}

/// Number of ranks of a node that are not servers of `nodes`. `listed`: placement.ranks, sorted.
int without_servers(const PlacementConfig& placement, const std::vector<int>& listed, int node, int ranks, int nodes) {
  const Span span = ranks_of(node, ranks, nodes);
  if (!listed.empty()) {
    const auto first = std::lower_bound(listed.begin(), listed.end(), span.first);
    return span.size() - static_cast<int>(std::lower_bound(first, listed.end(), span.end) - first);
  }
  if (placement.whole_nodes > 0) return node >= nodes - placement.whole_nodes ? 0 : span.size();
  return std::clamp(ranks - placement.servers - span.first, 0, span.size());
}

int clients_on(const PlacementConfig& placement, const std::vector<int>& listed, int node, int ranks, int nodes) {
  const int all = ranks_of(node, ranks, nodes).size();
  if (placement.mode == PlacementMode::off) return 0;
  if (serves_by_node(placement)) return all - placement.per_node;
  if (placement.mode != PlacementMode::nodes) return all;
  const int rest = without_servers(placement, listed, node, ranks, nodes);
  return forwards(placement) && rest > 0 ? rest - placement.per_node : rest;
}

std::vector<int> sorted(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void check_listed(const PlacementConfig& placement, const std::vector<int>& listed, int ranks) {
  const auto twice = std::adjacent_find(listed.begin(), listed.end());
  if (twice != listed.end()) {
    fail_at(placement.where, "found rank {} twice in placement.ranks, expected different ranks; remove one", *twice);
  }
  if (listed.back() < ranks) return;
  fail_at(placement.where,
          "found rank {} in placement.ranks and {} in all, expected ranks from 0 to {}; correct the list",
          listed.back(), counted(ranks, "rank"), ranks - 1);
}

void check_servers_of_nodes(const PlacementConfig& placement, const std::vector<int>& listed, int ranks, int nodes) {
  if (!listed.empty()) check_listed(placement, listed, ranks);
  if (placement.whole_nodes >= nodes) {
    fail_at(placement.where,
            "found whole_nodes {} and {} in all, expected at least one node more than those of servers; lower "
            "whole_nodes, or start on more nodes",
            placement.whole_nodes, counted(nodes, "node"));
  }
  if (placement.whole_nodes == 0 && placement.servers >= ranks) {
    fail_at(placement.where,
            "found {} and {} in all, expected at least one rank more than servers; lower servers, start more ranks, or "
            "write 'placement: inline'",
            counted(placement.servers, "server"), counted(ranks, "rank"));
  }
}

}  // namespace

void check_split(const PlacementConfig& placement, int ranks, int nodes) {
  const std::vector<int> listed = sorted(placement.ranks);
  if (placement.mode == PlacementMode::nodes) check_servers_of_nodes(placement, listed, ranks, nodes);
  const bool by_node = serves_by_node(placement);
  if (!by_node && !forwards(placement)) return;
  for (int node = 0; node < nodes; ++node) {
    const int rest =
        by_node ? ranks_of(node, ranks, nodes).size() : without_servers(placement, listed, node, ranks, nodes);
    // A node that only has servers needs no forwarder.
    if (placement.per_node < rest || (rest == 0 && !by_node)) continue;
    fail_at(placement.where,
            "found per_node {} and node {} with {}{}, expected at least one rank more than {} on every node; lower "
            "per_node, start more ranks on each node, or write {}",
            placement.per_node, node, counted(rest, "rank"), by_node ? "" : " that are no servers",
            by_node ? "servers" : "forwarders", by_node ? "'placement: inline'" : "'forward: none'");
  }
}

int most_clients_on_a_node(const PlacementConfig& placement, int ranks, int nodes) {
  const std::vector<int> listed = sorted(placement.ranks);
  int most = 0;
  for (int node = 0; node < nodes; ++node) most = std::max(most, clients_on(placement, listed, node, ranks, nodes));
  return most;
}

int client_count(const PlacementConfig& placement, int ranks, int nodes) {
  const std::vector<int> listed = sorted(placement.ranks);
  int sum = 0;
  for (int node = 0; node < nodes; ++node) sum += clients_on(placement, listed, node, ranks, nodes);
  return sum;
}

}  // namespace sidestream
