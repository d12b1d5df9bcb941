// The outputs by the conventions CF and UGRID.
#pragma once

#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// Writes one NetCDF-4 file per iteration.
[[nodiscard]] WriterKind netcdf_writer();

/// Writes one Zarr store that grows with each iteration, only by CF.
[[nodiscard]] WriterKind zarr_writer();

}  // namespace sidestream
