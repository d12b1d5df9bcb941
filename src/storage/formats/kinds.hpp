// Formats of result files that come with Sidestream.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// `.vtp`: points and point data are Float64 or Float32, as in the surface; corners are Int32 if this type can number
/// the points. The same surface, iteration and provenance give the same bytes.
[[nodiscard]] ResultFormat vtp_format();

// Parts of meshes as VTK XML UnstructuredGrid.

/// `.vtu`: points and values are Float64, cells are Int64. The same cells, iteration and provenance give the same
/// bytes.
[[nodiscard]] ResultFormat vtu_format();

// Surfaces in VTK's binary form.

/// `.vtkhdf`: PolyData of VTKHDF 2.0, an HDF5 file of plain arrays: binary, written without copies in memory, readable
/// in parts. Element types as in `.vtp`.
[[nodiscard]] ResultFormat vtkhdf_format();

// Images as PNG.

/// `.png` (ISO/IEC 15948): 8 bits per channel, sRGB, with an alpha channel only if the image is not opaque. The
/// provenance goes into an international text chunk `Description`. The same image and provenance give the same bytes
/// with the same libpng and zlib.
[[nodiscard]] ResultFormat png_format();

}  // namespace sidestream
