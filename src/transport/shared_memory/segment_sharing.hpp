// One process of a node makes a segment, all of them map it.
#pragma once

#include <cstdint>

#include "sidestream/extend/communicator.hpp"
#include "transport/shared_memory/segment.hpp"

namespace sidestream::shared_memory {

/// Collective over `node`. `own`: the segment, on the one member that is `creator`. Returns it, mapped, on every
/// member; throws the same Error(system) on all of them.
[[nodiscard]] Segment share_segment(Communicator& node, bool creator, Segment own, std::uint64_t layout);

}  // namespace sidestream::shared_memory
