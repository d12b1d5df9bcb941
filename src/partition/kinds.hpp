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

inline void register_partitioners(Registry& registry) {
  for (auto* kind :
       {block_partitioner, stripe_partitioner, mapped_partitioner, slice_partitioner, isosurface_partitioner,
        balanced_partitioner, local_partitioner, replicated_partitioner, regrid_partitioner}) {
    registry.add(kind());
  }
}

}  // namespace sidestream
