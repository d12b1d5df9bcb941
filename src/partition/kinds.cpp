#include "partition/kinds.hpp"

namespace sidestream {

void register_partitioners(Registry& registry) {
  for (auto* kind :
       {block_partitioner, stripe_partitioner, mapped_partitioner, slice_partitioner, isosurface_partitioner,
        balanced_partitioner, local_partitioner, replicated_partitioner, regrid_partitioner}) {
    registry.add(kind());
  }
}

}  // namespace sidestream
