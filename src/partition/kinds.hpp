// The partitioners that come with Sidestream, one file each.
#pragma once

#include "sidestream/extend/partitioner.hpp"
#include "sidestream/extend/registry.hpp"

namespace sidestream {

[[nodiscard]] PartitionerKind block_partitioner();
[[nodiscard]] PartitionerKind stripe_partitioner();
[[nodiscard]] PartitionerKind mapped_partitioner();
[[nodiscard]] PartitionerKind slice_partitioner();
[[nodiscard]] PartitionerKind isosurface_partitioner();
[[nodiscard]] PartitionerKind balanced_partitioner();
[[nodiscard]] PartitionerKind local_partitioner();
[[nodiscard]] PartitionerKind replicated_partitioner();
[[nodiscard]] PartitionerKind regrid_partitioner();

void register_partitioners(Registry& registry);
}  // namespace sidestream
