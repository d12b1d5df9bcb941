// Blocks that a program declared before the session started.
#pragma once

#include "client/declarations.hpp"
#include "client/publisher.hpp"

namespace sidestream {

/// Repeats the calls that declared blocks, in their order. An allocated box may have been given before its block.
/// Throws Error(usage) as those calls do.
void declare_blocks(Publisher& publisher, const Declarations& declarations);

/// Joins the points that spectral elements share. Collective over `world`, the ranks of the session; `clients` is null
/// on servers. Throws the same Error(usage) on all ranks if elements contradict each other.
void share_spectral_points(Communicator& world, Communicator* clients, Declarations& declarations,
                           const Metadata& metadata);
/// Publishes the meshes of this client's spectral elements, and forgets the elements. Not collective: a failure is
/// logged, and the iterations are refused, as if the program's own publication had failed.
void publish_spectral_blocks(Publisher& publisher, Declarations& declarations);

}  // namespace sidestream
