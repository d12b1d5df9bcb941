// The optional parts with which this program was built: zstd, FFTW, ADIOS2 and so on.
#pragma once

namespace sidestream {

/// A line for each part: "with" or "without", its name and purpose; for missing ones also the reason. Generated when
/// the build is configured (cmake/PartsReport.cmake).
[[nodiscard]] const char* built_parts() noexcept;

}  // namespace sidestream
