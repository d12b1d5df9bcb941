// The output `stream`: hands iterations to another MPI job.
#pragma once

#include <memory>

#include "sidestream/extend/registry.hpp"
#include "transport/staging/context.hpp"

namespace sidestream::staging {

/// Adds the output `stream` to the registry. `context` may be filled later, before the first iteration.
void register_streams(Registry& registry, std::shared_ptr<StreamContext> context);

}  // namespace sidestream::staging
