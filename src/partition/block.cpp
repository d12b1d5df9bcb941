// Partitioner `block`: contiguous equal shares (paper of SENSEI's M-to-N transport, section 2.4).
#include "partition/kinds.hpp"
#include "partition/splitting.hpp"

namespace sidestream {

PartitionerKind block_partitioner() {
  PartitionerKind kind;
  kind.name = "block";
  kind.text =
      "Contiguous equal shares of the blocks in the order of clients and ids; where the number does not divide evenly, "
      "the first servers get one block more.";
  kind.plan = [](const PlanInput& input, const Settings&) { return equal_shares(input); };
  return kind;
}

}  // namespace sidestream
