// `sidestream check`: whether a configuration is right, and what it will do.
#pragma once

#include "check_options.hpp"

namespace sidestream {

/// Reads and checks the file as a session would, without MPI and without writing anything; returns the
/// summary. Throws Error(usage) for wrong arguments, other errors for a wrong configuration.
[[nodiscard]] std::string check(const CheckOptions& options);

/// Warns if a run with this configuration would be refused now, since its output directory holds an earlier one.
void check_directory(const CheckOptions& options);

}  // namespace sidestream
