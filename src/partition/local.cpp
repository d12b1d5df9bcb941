// Partitioner `local`: each block to the nearest server.
#include "partition/kinds.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

namespace {

bool has_near(const PlanInput& input, const PlannedBlock& block) noexcept {
  return block.near >= 0 && block.near < input.servers;
}

Plan plan_local(const PlanInput& input, const Settings&) {
  Plan plan;
  if (input.blocks.empty()) return plan;
  std::vector<std::uint64_t> loads(static_cast<std::size_t>(input.servers));
  bool all_near = true;
  for (const PlannedBlock& block : input.blocks) {
    if (has_near(input, block)) {
      loads[static_cast<std::size_t>(block.near)] += block.bytes;
    } else {
      all_near = false;
    }
  }
  LeastLoaded<std::uint64_t> least(all_near ? std::vector<std::uint64_t>{} : std::move(loads));
  plan.pieces.reserve(input.server < 0 ? input.blocks.size() : 0);
  for (std::size_t b = 0; b < input.blocks.size(); ++b) {
    const PlannedBlock& block = input.blocks[b];
    const std::int32_t server = has_near(input, block) ? block.near : least.add(block.bytes);
    if (is_wanted(input, server)) plan.pieces.push_back(whole_block(input, static_cast<std::int64_t>(b), server));
  }
  return plan;
}

}  // namespace

PartitionerKind local_partitioner() {
  PartitionerKind kind;
  kind.name = "local";
  kind.text =
      "Each block goes to the server nearest to its client: on the same node, if there is one. Blocks without a "
      "nearest server go, in their order, to the server with the fewest bytes.";
  kind.plan = plan_local;
  return kind;
}

}  // namespace sidestream
