// Formats of result files that come with Sidestream.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// `.vtp`: points and point data as Float64 or Float32, as the surface says; corners as Int32 where that can number the
/// points. The same surface, iteration and provenance give the same bytes.
[[nodiscard]] ResultFormat vtp_format();

// Parts of meshes as VTK XML UnstructuredGrid.

/// `.vtu`: points and values as Float64, cells as Int64. The same cells, iteration and provenance give the same bytes.
[[nodiscard]] ResultFormat vtu_format();

// Surfaces in VTK's binary form.

/// `.vtkhdf`: PolyData of VTKHDF 2.0, an HDF5 file of plain arrays: no text, no copies in memory, parts readable.
/// Element types as in `.vtp`.
[[nodiscard]] ResultFormat vtkhdf_format();

// Images as PNG.

/// `.png` (ISO/IEC 15948): 8 bits per channel, sRGB, the alpha channel only if it says anything. The
/// provenance goes into an international text chunk `Description`. The same image and provenance give the
/// same bytes with the same libpng and zlib.
[[nodiscard]] ResultFormat png_format();

}  // namespace sidestream
