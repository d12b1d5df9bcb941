// The writer `vtk`.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// One file per block and iteration, one per mesh and iteration that lists those, and an index over time.
[[nodiscard]] WriterKind vtk_writer();

}  // namespace sidestream
