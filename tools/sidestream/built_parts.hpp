// What of the optional parts this program was built with: zstd, FFTW, ADIOS2 and so on.
#pragma once

namespace sidestream {

/// A line for each: "with" or "without", its name, and what it is for; of those left out also why. Made when the build
/// is configured (cmake/PartsReport.cmake).
[[nodiscard]] const char* built_parts() noexcept;

}  // namespace sidestream
