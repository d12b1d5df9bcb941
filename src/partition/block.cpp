// Partitioner `block`: contiguous equal shares (paper of SENSEI's M-to-N transport, section 3: "block" partitioner).
#include "partition/register.hpp"

namespace sidestream {

namespace {

/// The first `blocks mod servers` servers get one block more than the others.
Plan plan_block(const PlanInput& input, const Settings&) {
  Plan plan;
  plan.pieces.reserve(input.blocks.size());
  const auto n = static_cast<std::int64_t>(input.blocks.size());
  const std::int64_t share = n / input.servers, more = n % input.servers;
  std::int64_t block = 0;
  for (int server = 0; server < input.servers; ++server) {
    for (const std::int64_t end = block + share + (server < more ? 1 : 0); block < end; ++block) {
      plan.pieces.push_back({block, server, 0, input.blocks[static_cast<std::size_t>(block)].block.cells});
    }
  }
  return plan;
}

}  // namespace

void register_partitioners(Registry& registry) {
  PartitionerKind kind;
  kind.name = "block";
  kind.text =
      "Contiguous equal shares of the blocks in the order of clients and ids; where the number does not divide evenly, "
      "the first servers get one block more.";
  kind.plan = plan_block;
  registry.add(std::move(kind));
}

}  // namespace sidestream
