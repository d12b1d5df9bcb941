#include "config/split.hpp"

#include "config/fail_at.hpp"

namespace sidestream {

void check_split(const PlacementConfig& placement, int ranks, int smallest_node) {
  const auto ranks_text = [](int count) { return fmt::format("{} rank{}", count, count == 1 ? "" : "s"); };
  const bool by_node = placement.mode == PlacementMode::cores || placement.mode == PlacementMode::job;
  if (by_node && placement.per_node >= smallest_node) {
    fail_at(placement.where,
            "found per_node {} and a node with {}, expected at least one rank more than servers on every "
            "node; lower "
            "per_node, start more ranks on each node, or write 'placement: inline'",
            placement.per_node, ranks_text(smallest_node));
  }
  for (const int rank : placement.ranks) {
    if (rank < ranks) continue;
    fail_at(placement.where,
            "found rank {} in placement.ranks and {} in all, expected ranks from 0 to {}; correct the list", rank,
            ranks_text(ranks), ranks - 1);
  }
  const bool forwards = placement.mode == PlacementMode::nodes && placement.forward != Forward::none;
  if (forwards && placement.servers + placement.per_node >= ranks) {
    fail_at(
        placement.where,
        "found {} servers, {} forwarders on a node and {} in all, expected at least one rank more; start more ranks, or "
        "write 'forward: none'",
        placement.servers, placement.per_node, ranks_text(ranks));
  }
  if (placement.mode == PlacementMode::nodes && placement.servers >= ranks) {
    fail_at(placement.where,
            "found {} servers and {} in all, expected at least one rank more than servers; lower servers, "
            "start more "
            "ranks, or write 'placement: inline'",
            placement.servers, ranks_text(ranks));
  }
}

}  // namespace sidestream
