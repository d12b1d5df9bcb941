// Partitioner `balanced`: largest block first, each to the least loaded server.
//
// R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17 (1969): the fullest server gets at
// most 4/3 - 1/(3 N) of its load in an optimal division among N servers.
#include <algorithm>

#include "partition/kinds.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

namespace {

/// Cost of each block in seconds. Blocks without a measurement count by their bytes, at the mean cost per byte of the
/// others.
std::vector<double> costs(const PlanInput& input) {
  double seconds = 0, bytes = 0;
  for (const PlannedBlock& block : input.blocks) {
    if (!(block.cost > 0)) continue;
    seconds += block.cost;
    bytes += static_cast<double>(block.bytes);
  }
  const double price = seconds > 0 && bytes > 0 ? seconds / bytes : 1;
  std::vector<double> result;
  result.reserve(input.blocks.size());
  for (const PlannedBlock& block : input.blocks) {
    result.push_back(block.cost > 0 ? block.cost : price * static_cast<double>(block.bytes));
  }
  return result;
}

std::vector<std::uint64_t> sizes(const PlanInput& input) {
  std::vector<std::uint64_t> result;
  result.reserve(input.blocks.size());
  for (const PlannedBlock& block : input.blocks) result.push_back(block.bytes);
  return result;
}

template <class Load>
Plan largest_first(const PlanInput& input, const std::vector<Load>& loads) {
  Plan plan;
  if (loads.empty()) return plan;
  // Stores the load with the index, so that sorting accesses contiguous memory. Equal loads keep the order of blocks.
  std::vector<std::pair<Load, std::int64_t>> order(loads.size());
  for (std::size_t b = 0; b < loads.size(); ++b) order[b] = {loads[b], static_cast<std::int64_t>(b)};
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  LeastLoaded<Load> servers{std::vector<Load>(static_cast<std::size_t>(input.servers))};
  std::vector<std::int32_t> server_of(loads.size());
  for (const auto& [load, block] : order) server_of[static_cast<std::size_t>(block)] = servers.add(load);
  plan.pieces.reserve(input.server < 0 ? loads.size() : 0);
  for (std::size_t b = 0; b < loads.size(); ++b) {
    if (is_wanted(input, server_of[b])) {
      plan.pieces.push_back(whole_block(input, static_cast<std::int64_t>(b), server_of[b]));
    }
  }
  return plan;
}

Plan plan_balanced(const PlanInput& input, const Settings& settings) {
  return settings.text("by") == "cost" ? largest_first(input, costs(input)) : largest_first(input, sizes(input));
}

}  // namespace

PartitionerKind balanced_partitioner() {
  PartitionerKind kind;
  kind.name = "balanced";
  kind.text =
      "Balances the load of servers: the largest block first, each to the server with the least load so far. The "
      "fullest server has at most 4/3 of its load in an optimal division. For blocks of different sizes.";
  kind.options = {{.name = "by",
                   .type = OptionType::choice,
                   .default_value = "bytes",
                   .text = "`bytes`: the bytes that move. `cost`: the seconds that analyses last spent on the block; "
                           "blocks without a measurement count by their bytes.",
                   .choices = {"bytes", "cost"}}};
  kind.plan = plan_balanced;
  kind.wants_cost = [](const Settings& settings) { return settings.text("by") == "cost"; };
  return kind;
}

}  // namespace sidestream
