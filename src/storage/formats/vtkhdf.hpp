// Surfaces in VTK's binary form.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// `.vtkhdf`: PolyData of VTKHDF 2.0, an HDF5 file of plain arrays: no text, no copies in memory, parts readable.
/// Element types as in `.vtp`.
[[nodiscard]] ResultFormat vtkhdf_format();

}  // namespace sidestream
