// Surfaces as VTK XML PolyData.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// `.vtp`: points and point data as Float64 or Float32, as the surface says; corners as Int32 where that can number the
/// points. The same surface, iteration and provenance give the same bytes.
[[nodiscard]] ResultFormat vtp_format();

}  // namespace sidestream
