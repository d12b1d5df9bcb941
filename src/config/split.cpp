#include "config/split.hpp"

#include <algorithm>

#include "config/options/fail_at.hpp"

namespace sidestream {

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

/// Ranks of a node that are no servers of `nodes`. `listed`: placement.ranks, sorted.
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
    // A node of servers alone needs no forwarder.
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
