// Partitioner `balanced`: largest first, each to the server that has least.
//
// R. L. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17 (1969): the fullest server gets at
// most 4/3 - 1/(3 N) of what it would have in the best of all divisions among N servers.
#include <algorithm>
#include <numeric>

#include "partition/kinds.hpp"
#include "partition/least_loaded.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

namespace {

/// Seconds of each block. Blocks without a measurement count by their bytes, at the mean price of those with one.
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
  // Beside its load, so that sorting does not jump about in memory. Equal loads in the order of the blocks.
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
      "Evens out what servers get: the largest block first, each to the server that has least so far. The fullest "
      "server has at most 4/3 of what the best of all divisions would give it. For blocks of different sizes.";
  kind.options = {{.name = "by",
                   .type = OptionType::choice,
                   .default_value = "bytes",
                   .text = "`bytes`: what moves. `cost`: the seconds that analyses spent on the block last; blocks "
                           "without a measurement count by their bytes.",
                   .choices = {"bytes", "cost"}}};
  kind.plan = plan_balanced;
  kind.wants_cost = [](const Settings& settings) { return settings.text("by") == "cost"; };
  return kind;
}

}  // namespace sidestream
