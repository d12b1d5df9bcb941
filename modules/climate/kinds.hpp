// The outputs by the conventions CF and UGRID, and the analyses of this module.
#pragma once

#include "sidestream/extend/analysis.hpp"
#include "sidestream/extend/writer.hpp"

namespace sidestream {

/// Writes one NetCDF-4 file per iteration.
[[nodiscard]] WriterKind netcdf_writer();
/// Writes one Zarr store that grows with each iteration, only by CF.
[[nodiscard]] WriterKind zarr_writer();

[[nodiscard]] AnalysisKind time_statistics_kind();

}  // namespace sidestream
