// Surfaces as VTK XML PolyData.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// `.vtp`: points as Float64, triangles as Int64, point data as Float64. The same surface, iteration and
/// provenance give the same bytes.
[[nodiscard]] ResultFormat vtp_format();

}  // namespace sidestream
