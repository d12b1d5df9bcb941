// Partitioner `block`: contiguous equal shares (paper of SENSEI's M-to-N transport, section 3: "block" partitioner).
#include "partition/register.hpp"

namespace sidestream {

namespace {

/// The first `blocks mod servers` servers get one block more than the others.
Plan plan_block(std::span<const PlannedBlock> blocks, int servers) {
  Plan plan;
  const auto n = static_cast<std::int64_t>(blocks.size());
  const std::int64_t share = n / servers, more = n % servers;
  for (int s = 0; s < servers; ++s) {
    plan.server.insert(plan.server.end(), static_cast<std::size_t>(share + (s < more ? 1 : 0)), s);
  }
  return plan;
}

}  // namespace

void register_partitioners(Registry& registry) {
  registry.add(
      PartitionerKind{"block",
                      "Contiguous equal shares of the blocks in the order of clients and ids; where the number "
                      "does not divide evenly, the first servers get one block more.",
                      plan_block});
}

}  // namespace sidestream
