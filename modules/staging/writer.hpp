// The output `stream`, which hands iterations to another MPI job.
#pragma once

#include <memory>

#include "sidestream/extend/stream.hpp"

namespace sidestream::staging {

/// The output. `context` may be filled later, before the first iteration.
[[nodiscard]] WriterKind stream_output(std::shared_ptr<StreamContext> context);

}  // namespace sidestream::staging
