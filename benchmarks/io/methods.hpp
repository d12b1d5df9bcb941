// All methods, by name.
#pragma once

#include "method.hpp"

namespace io {

/// Those without Sidestream, in the order in which they are shown; `missing` says why one is not there.
[[nodiscard]] std::vector<MethodKind> other_methods(const Options& options);

}  // namespace io
