// Parts of meshes as VTK XML UnstructuredGrid.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// `.vtu`: points and values as Float64, cells as Int64. The same cells, iteration and provenance give the same bytes.
[[nodiscard]] ResultFormat vtu_format();

}  // namespace sidestream
